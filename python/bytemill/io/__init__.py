"""Files: `reading` and `writing` definitions in all formats, `atomic` replacement, tables of pieces."""
