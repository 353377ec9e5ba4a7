"""Cedar: a schema, entities and policies that decide about tools, credentials and data as the documents say.

Source: the Cedar policy language, version 4. What is written here is made from documents alone, so that it can be held
against our own decisions: this package never imports them (an import contract).
"""
