"""Former name of `bytemill.inspection`."""

from bytemill.inspection import (
    Comparison,
    MergeView,
    TokenReport,
    TokenView,
    VocabularyReport,
    compare,
    report,
    report_token,
    show,
    show_merges,
)

__all__ = [
    "Comparison",
    "MergeView",
    "TokenReport",
    "TokenView",
    "VocabularyReport",
    "compare",
    "report",
    "report_token",
    "show",
    "show_merges",
]
