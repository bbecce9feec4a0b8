"""The way back: judged workbooks become judgements, agreement, decisions, and a corrected gold standard."""
