// Runs a program under the SystemCallFilter of a systemd unit, as systemd would: a seccomp filter of the same calls. It
// needs a C compiler; the groups of calls come from systemd-analyze, or as version 252 has them from a file.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const canFilter = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0

/** Builds the program that installs the filter of the unit's text and runs its arguments. */
export function buildFilter(unit: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-filter-'))
  const [source, program] = [join(directory, 'filter.c'), join(directory, 'filter')]
  writeFileSync(source, sourceOf(allowedCalls(unit), deniedAction(unit)))
  const { status, stderr } = spawnSync('cc', ['-O1', '-o', program, source], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return program
}

function settings(unit: string, name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)
}

/** The first line allows, those that begin with `~` take away. systemd always allows the group `@default`. */
function allowedCalls(unit: string): Set<string> {
  const groups = systemCallGroups()
  const expand = (name: string): string[] => (name.startsWith('@') ? groups.get(name)!.flatMap(expand) : [name])
  const allowed = new Set(expand('@default'))
  for (const line of settings(unit, 'SystemCallFilter')) {
    const calls = line.replace(/^~/, '').split(' ').flatMap(expand)
    for (const call of calls) line.startsWith('~') ? allowed.delete(call) : allowed.add(call)
  }
  return allowed
}

function deniedAction(unit: string): string {
  const [error] = settings(unit, 'SystemCallErrorNumber')
  return error === undefined ? 'SECCOMP_RET_KILL_PROCESS' : `SECCOMP_RET_ERRNO | ${error}`
}

function systemCallGroups(): Map<string, string[]> {
  const { stdout, status } = spawnSync('systemd-analyze', ['syscall-filter'], { encoding: 'utf8' })
  const text = status === 0 ? stdout : readFileSync(new URL('./system-call-groups.txt', import.meta.url), 'utf8')
  const groups = new Map<string, string[]>()
  for (const block of text.split(/\n(?=@)/)) {
    const [name, ...calls] = block.split('\n').map(line => line.trim())
    if (!name!.startsWith('@')) continue
    const end = calls.indexOf('')
    const own = end < 0 ? calls : calls.slice(0, end)
    groups.set(
      name!,
      own.filter(call => !call.startsWith('#')),
    )
  }
  return groups
}

function sourceOf(allowed: ReadonlySet<string>, denied: string): string {
  const rules = [...allowed].map(call => `#ifdef SYS_${call}\n  ALLOW(SYS_${call})\n#endif`)
  return `
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
int main(int count, char **words) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
${rules.join('\n')}
    BPF_STMT(BPF_RET | BPF_K, ${denied}),
  };
  struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 125;
  execvp(words[1], words + 1);
  return 127;
}
`
}
