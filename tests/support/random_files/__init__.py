"""Random files `tokenizer.json` of any components that the format has, compared with `tokenizers`.

`files` draws a file, and `texts` texts that are hard for it. `faces`, `encodings`, `growth` and `lengths`
compare both libraries, except for the documented differences of `rules`. `shrinking` makes what differs
small, and `trials` does all of it.
"""
