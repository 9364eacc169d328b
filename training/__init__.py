"""Learning from labelled requests: each module leaves an artefact with a card.

- `folds`: people into folds; whatever learns from labels and feeds a learner is cross-fitted.
- `prior`: what requests of a meaning needed before (`ctrag.context.prior`).
- `ranker`: LambdaMART and the weights of the fusion (`ctrag train ranker`).
"""
