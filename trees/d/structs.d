/// Binary trees of structs: two words.
module structs;

import sequence : binaryTrees;

struct Tree
{
    Tree* left, right;
}

void main(string[] arguments)
{
    binaryTrees!(Tree*, (Tree* left, Tree* right) => new Tree(left, right))(arguments);
}
