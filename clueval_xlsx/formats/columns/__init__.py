"""Files of one token a line, layers as columns of BIO tags: what the formats of this kind share."""
