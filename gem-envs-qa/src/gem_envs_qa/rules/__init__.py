"""Rules: does a statement follow from facts and rules that were drawn at random?"""
