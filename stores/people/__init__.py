"""A person's application data, in one DuckDB file per application.

From data to stores:

- `app_spec`, `apps.yaml`: applications as data, and which fields their items have.
- `items`: a person, a request, an item; `item_objects`, `item_rows`: items as objects and as rows.
- `lines`, `dataset`: a data set folder, checked line by line.
- `local_time`: times without a zone, truncated to the minute.

Stores:

- `stores`: all applications of all people (`Stores`); reports what cannot be read.
- `app_store`, `people_store`, `store_files`: one application's items; the people; their files.
- `bulk`, `generations`: importing many people at once into a new generation of files.
- `changes`: what a call changes and undo reverts; `migrations`: the schema as named steps.
"""
