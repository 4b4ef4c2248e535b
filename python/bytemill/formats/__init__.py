"""File formats of vocabularies: one module for each, with its reader, its writer and what it cannot hold."""
