# what:  ghostscript, imagemagick, zstd: large blocks, vectors, threads
# needs: gs convert zstd
# tier:  long
# get:   apt install ghostscript imagemagick zstd
# proof: gs convert-im6.q16 zstd
# limit: 180

cat >page.ps <<'END'
%!PS
/Times-Roman findfont 12 scalefont setfont
0 1 60 { dup 12 mul 20 add 30 exch moveto 20 string cvs show } for
0 5 360 { gsave 300 400 translate rotate 0 0 moveto 200 0 lineto stroke grestore } for
showpage
END
gs -q -dSAFER -dBATCH -dNOPAUSE -sDEVICE=ppmraw -r150 -sOutputFile=page.ppm page.ps
md5sum <page.ppm
convert page.ppm -resize 60% -blur 0x3 -rotate 17 -colors 64 ppm:- | md5sum
convert page.ppm -edge 2 -negate -crop 200x200 +repage -append ppm:- | md5sum
seq 1 2000000 | zstd -q -T2 -12 --long=24 | zstd -q -dc --long=24 | md5sum
seq 1 500000 | zstd -q -T2 -19 | md5sum
