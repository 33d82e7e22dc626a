# needs c++
# A draft of C++ types names atomics and locks, and fits what it was made from.
$ printf '#include <atomic>\n#include <mutex>\nnamespace ns {\ntemplate <class A, class B> struct base { A limit; std::atomic<B> hits; virtual void f() {} };\nstruct derived : base<int, long *> { std::mutex lock; std::atomic_flag flag; };\n}\nns::derived object;\n' >t.cc; c++ -g -c t.cc
$ linewise classes t.o ns::derived -o t.classes; grep -v '^# ' t.classes | sed 's/ *#.*//; s/_vptr[$]/_vptr./' | grep .
check ns::derived
ns::derived._vptr.base: read
ns::derived.hits: atomic
ns::derived.flag: atomic
$ linewise show t.o ns::derived --classes t.classes --json - | grep -c '"class": "'
3
$ printf 'ns::base<int*>.limit: read\nns::base<int*>.hits: atomic\ncheck ns::derived\n' >p.classes; linewise conflicts t.o --classes p.classes | grep -E '^line|^  (read|written)'
line 0: error: false sharing (read x atomic)
  written  hits, bytes 16-23, atomic
  read     limit, bytes 8-11, read
$ linewise lock t.o --classes p.classes -o p.lock; tail -1 p.lock; linewise check t.o --classes p.classes --lock p.lock
pair read x atomic, limit, hits
