"""HTML pages: one file per experiment.

- `page`: sections of text, tables and plots; `templates/` has its form.
- `tables`: tables that any page can use; `plots`, `svg`: drawings.
"""
