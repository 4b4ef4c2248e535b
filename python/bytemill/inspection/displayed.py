"""The forms in which notebooks and other hosts show a view or a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["Displayed"]


class Displayed:
    """Base of views and reports: hosts of HTML show one form, hosts of plain text the `str`."""

    def _repr_html_(self) -> str:
        """Renders it for a notebook; if a subclass has no other form, its `str` as it is."""
        from bytemill.inspection.notebook import preformatted

        return preformatted(str(self))

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Returns both forms for IPython, of which a notebook keeps both; arguments as IPython describes."""
        forms = {"text/plain": self._plain, "text/html": self._repr_html_}
        return {
            name: form()
            for name, form in forms.items()
            if (not include or name in include) and (not exclude or name not in exclude)
        }

    def _plain(self) -> str:
        """Returns the form for hosts of plain text."""
        return str(self)
