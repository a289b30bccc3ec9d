"""Who can meet whom: graphs, their families, files and mixing times."""
