"""JSON Lines and JSON lists with one document a record: what the formats of this kind share, and each of them."""
