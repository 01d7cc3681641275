# gate.pl FOLDER PROGRAM...: waits for its turn, runs the program, says what it took and what it
# inherited. The side is told by the fleet run that the process belongs to.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($folder, @program) = @ARGV;
my $side = working_for_a_worker() ? 'worker' : 'alone';
open(my $turn, '<', "$folder/$side.turn") or die "turn: $!";
my $letter;
sysread($turn, $letter, 1);
close($turn);
my $begun = clock_gettime(CLOCK_MONOTONIC);
my $failed = system { $program[0] } @program;
my $seconds = clock_gettime(CLOCK_MONOTONIC) - $begun;
my $usage = "\0" x 144;
syscall(98, -1, $usage);    # getrusage(RUSAGE_CHILDREN) of x86-64
my @used = unpack('q*', $usage);
my $text = answer($seconds, $used[0] + $used[2] + ($used[1] + $used[3]) / 1e6, $used[8]);
open(my $answer, '>', "$folder/$side.answer") or die "answer: $!";
syswrite($answer, "$text\n");
close($answer);
exit($failed ? 1 : 0);

sub working_for_a_worker {
    my $pid = getppid();
    while ($pid > 1) {
        my $words = slurp("/proc/$pid/cmdline");
        return 1 if index($words, "$folder/machine/") >= 0;
        ($pid) = slurp("/proc/$pid/stat") =~ /.*\) \S (\d+)/ or return 0;
    }
    return 0;
}

sub answer {
    my ($seconds, $cpu, $faults) = @_;
    my %conditions = (%{ status() }, environment => join(' ', map { "$_=$ENV{$_}" } sort keys %ENV),
        limits => slurp('/proc/self/limits'), cgroup => slurp('/proc/self/cgroup'),
        niceness_and_policy => join(' ', (split ' ', slurp('/proc/self/stat') =~ s/.*\) //sr)
            [15, 16, 37, 38]),
        oom_score_adj => slurp('/proc/self/oom_score_adj'), timer_slack => slurp('/proc/self/timerslack_ns'),
        descriptors => join(' ', grep { -e "/proc/self/fd/$_" } 0 .. 63),
        working_directory => readlink('/proc/self/cwd'), personality => slurp('/proc/self/personality'),
        namespaces => join(' ', map { readlink($_) // '' } sort glob('/proc/self/ns/*')));
    my $inside = join(',', map { quoted($_) . ':' . quoted($conditions{$_} // '') } sort keys %conditions);
    return sprintf('{"seconds":%.9f,"cpu_s":%.6f,"minor_faults":%d,"conditions":{%s}}',
        $seconds, $cpu, $faults, $inside);
}

sub status {
    my %found;
    for (split /\n/, slurp('/proc/self/status')) {
        my ($name, $value) = /^(\w+):\s*(.*)/ or next;
        $found{$name} = $value
            if $name =~ /^(Umask|Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*|Cpus_allowed_list|Mems_allowed_list|Sig(Blk|Ign)|THP_enabled|CoreDumping)$/;
    }
    return \%found;
}

sub slurp {
    my ($path) = @_;
    open(my $file, '<', $path) or return '';
    local $/;
    return <$file> // '';
}

sub quoted {
    my ($text) = @_;
    $text =~ s/([^ !#-\[\]-~])/sprintf('\\u%04x', ord($1))/ge;
    return "\"$text\"";
}
