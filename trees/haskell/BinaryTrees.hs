-- Full laziness would make one tree for all turns of a loop.
{-# OPTIONS_GHC -fno-full-laziness -fno-cse #-}

-- | Binary trees on the collector of GHC. Strict fields: a node holds nodes, not promises of nodes.
module Main (main) where

import Control.Monad (forM_, when)
import Data.Bits (shiftL)
import Data.List (foldl')
import GHC.Stats (RTSStats (..), getRTSStats, getRTSStatsEnabled)
import Numeric (showFFloat)
import System.Environment (getArgs)
import System.IO (hPutStrLn, stderr)

data Tree = Empty | Node !Tree !Tree

minDepth, defaultDepth :: Int
minDepth = 4
defaultDepth = 10

-- | Leaves are allocated as all nodes are: +RTS -s shows three words for each.
make :: Int -> Tree
make 0 = Node Empty Empty
make depth = Node (make (depth - 1)) (make (depth - 1))

count :: Tree -> Int
count Empty = 0
count (Node left right) = 1 + count left + count right

treesOfDepth :: Int -> Int -> IO ()
treesOfDepth depth trees =
  putStrLn $
    show trees ++ "\t trees of depth " ++ show depth ++ "\t check: " ++ show check
  where
    check = foldl' (\sum' _ -> sum' + count (make depth)) 0 [1 .. trees]

tell :: String -> Int -> Tree -> IO ()
tell what depth tree =
  putStrLn $ what ++ " tree of depth " ++ show depth ++ "\t check: " ++ show (count tree)

tellCollections :: IO ()
tellCollections = do
  enabled <- getRTSStatsEnabled
  when enabled $ do
    known <- getRTSStats
    hPutStrLn stderr $
      "heapwise-trees: collections="
        ++ show (gcs known)
        ++ " total_pause_s="
        ++ showFFloat (Just 6) (fromIntegral (gc_elapsed_ns known) / 1e9 :: Double) ""

main :: IO ()
main = do
  arguments <- getArgs
  let depth = max (minDepth + 2) (case arguments of (word : _) -> read word; [] -> defaultDepth)
  tell "stretch" (depth + 1) (make (depth + 1))
  let longLived = make depth
  -- Now, and not when it is counted.
  longLived `seq` forM_ [minDepth, minDepth + 2 .. depth] $ \d ->
    treesOfDepth d (1 `shiftL` (depth - d + minDepth))
  tell "long lived" depth longLived
  tellCollections
