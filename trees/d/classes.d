/// Binary trees of class objects: two words, and two more that every object of D has.
module classes;

import sequence : binaryTrees;

final class Tree
{
    Tree left, right;

    this(Tree left, Tree right)
    {
        this.left = left;
        this.right = right;
    }
}

void main(string[] arguments)
{
    binaryTrees!(Tree, (Tree left, Tree right) => new Tree(left, right))(arguments);
}
