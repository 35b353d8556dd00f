"""What the index holds: its fields, and the one document beside the nodes, which says the generation."""

from __future__ import annotations

from typing import Any, Final

import tantivy

FORMAT: Final = "text-11"  # names schema and contents; another one lives in another directory and is built anew
_META: Final = "generation"


def make_schema() -> Any:
    """Every field of nodes, files and the generation."""
    builder = tantivy.SchemaBuilder()
    for name in ("name", "qualified", "signature", "doc", "path", "body"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in ("symbol", "owner", "file", "folder", "suffix", "language", "package", "meta"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("file_words", tokenizer_name="whitespace", index_option="basic")
    builder.add_text_field("title", tokenizer_name="raw", index_option="basic", stored=True)
    builder.add_unsigned_field("id", fast=True)  # a list for each would take a tenth of the build, for repairs alone
    builder.add_unsigned_field("kind", indexed=True)
    builder.add_unsigned_field("generation", stored=True)
    return builder.build()


def put_generation(writer: Any, generation: int) -> None:
    """Replace the generation, as a part of the writer's next commit."""
    writer.delete_documents_by_term("meta", _META)
    document = tantivy.Document()
    document.add_text("meta", _META)
    document.add_unsigned("generation", generation)
    writer.add_document(document)


def generation_of(searcher: Any, schema: Any) -> int:
    """The generation that a commit is of; 0 when empty."""
    query = tantivy.Query.term_query(schema, "meta", _META, "basic")
    hits = searcher.search(query, 1, count=False).hits
    return int(searcher.doc(hits[0][1]).get_first("generation")) if hits else 0


def node_count(searcher: Any) -> int:
    """How many nodes a commit has."""
    documents = int(searcher.num_docs)
    return documents - 1 if documents else 0  # the generation is a document too
