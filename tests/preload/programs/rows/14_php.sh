# what:  php, every value from malloc
# needs: php
# tier:  long
# get:   apt install php-cli
# proof: php8.2

USE_ZEND_ALLOC=0 php -n <<'END'
<?php
$table = [];
for ($i = 0; $i < 200000; $i++) {
  $k = ($i * 7919) % 30011;
  $table[$k] = ($table[$k] ?? '') . "x$i";
  if ($i % 5 == 0) unset($table[$i % 911]);
}
ksort($table);
echo count($table), ' ', md5(serialize($table)), ' ', md5(json_encode($table)), "\n";
function tree($d) { return $d ? [tree($d - 1), tree($d - 1)] : []; }
function count_tree($t) { return 1 + array_sum(array_map('count_tree', $t)); }
for ($i = 0; $i < 3; $i++) echo count_tree(tree(14)), "\n";
echo md5(preg_replace_callback('/\d+/', fn($m) => strrev($m[0]), implode(' ', range(1, 50000)))), "\n";
END
