"""How far unjudged documents could move the difference of two runs.

Both runs are judged alike: an unjudged document that both retrieved has one grade in both, and there is one set of
relevant documents and one ideal ranking. So the two are bounded together, query by query, by what a measure is made of.
Every method finds the highest value of first - second; the lowest is that of second - first, negated.

    Sums       a sum over the documents of the ranking (P, DCG, RBP, …)         exact
    Firsts     what the first relevant document decides (RR, Success)           exact
    Shares     relevant documents found, by a number that R fixes (R, F, …)     exact
    Gains      gains as a share of the ideal ones (nDCG)                        exact
    Stopping   a user who stops (ERR)                                           exact, unless it takes too long
    Precisions a mean of precisions (AP)                                        exact for few documents, else safe
    Others     everything else                                                  exact for few documents, else safe
"""
