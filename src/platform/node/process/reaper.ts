/**
 * The reaper is a shell in a session of its own that outlives this server by a moment. It reads `+group` and `-group`
 * lines from its input, and names of placeholders as `/path` and `!/path`, which it removes at its end; when the input ends, which happens however the server dies, it ends every group still listed, and
 * where there is a process table, every other group of a session that a listed group began, and every process that carries
 * a mark of this server: jobs of interactive shells, and what left its group (see `node-families.ts`).
 *
 * I1 A group is listed before a program runs in it (`adopt` settles after the kernel has taken the line).
 * I2 A reaper that dies is replaced, and the replacement is told of every listed group.
 * I3 The reaper keeps neither the server's event loop nor any of its descriptors.
 */
import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PlaceholderKeeper } from '../files/placeholders.js'
import { MARK } from './program-families.js'

export interface Reaper extends PlaceholderKeeper {
  /** Lists a group; rejects when no reaper can be had, and then nothing may run in the group. */
  adopt(group: number): Promise<void>
  /** The group is gone. */
  release(group: number): void
  /** With this begin the marks of what this server starts. */
  readonly mark: string
  /** Process id of the running reaper, for tests and diagnostics. */
  readonly pid: number | undefined
}

interface Incarnation {
  readonly pid: number
  readonly input: Writable
  /** Resolves with its lifetime in ms. */
  readonly ended: Promise<number>
}

const QUICK_DEATH = 1000
const STRIKES = 3

const SCRIPT = `
trap '' HUP INT TERM QUIT PIPE
groups=' ' newline='
' held='
'
while IFS= read -r line; do
  group=\${line#?}
  case $line in
    /*) case $held in *"$newline$line$newline"*) ;; *) held=$held$line$newline ;; esac; continue ;;
    !*) case $held in *"$newline$group$newline"*) held=\${held%%"$newline$group$newline"*}$newline\${held#*"$newline$group$newline"} ;; esac; continue ;;
  esac
  case $line$groups in
    +*" $group "*) ;;
    +*) groups="$groups$group " ;;
    -*" $group "*) before=\${groups%%" $group "*} after=\${groups#*" $group "}
        groups="$before $after" ;;
  esac
done
letgo() {
  for round in 1 2; do
    printf %s "$held" | while IFS= read -r path; do
      [ -S "$path" ] && rm -f -- "$path"
      [ -d "$path" ] && rmdir -- "$path" 2>/dev/null
    done
  done
}
[ "$groups" = ' ' ] && { letgo; exit 0; }
marked() {
  for file in $(grep -alF -e "${MARK}=$1." /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/} pid=\${pid%/environ}
    read -r line 2>/dev/null <"/proc/$pid/stat" || continue
    set -- "$1" "$2" \${line##*) }
    case $3$groups in [ZX]*) ;; *" $5 "*) [ "$2" = KILL ] && kill -s KILL "$pid" 2>/dev/null ;; *) kill -s "$2" "$pid" 2>/dev/null ;; esac
  done
}
mark=$1
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
marked "$mark" TERM
sleep ${LIMITS.tools.killGrace / 1000} 2>/dev/null || sleep 1
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
for process in /proc/[0-9]*/stat; do
  read -r line 2>/dev/null <"$process" || continue
  set -- \${line##*) }
  case $groups in *" $4 "*) kill -s KILL -- "-$3" 2>/dev/null ;; esac
done
for round in 1 2 3; do marked "$mark" KILL; done
letgo
exit 0
`

export function createReaper(): Reaper {
  const mark = randomBytes(16).toString('hex')
  const groups = new Set<number>()
  const held = new Set<string>()
  let current: Promise<Incarnation> | undefined
  let pid: number | undefined
  let strikes = 0

  const ensure = (): Promise<Incarnation> => {
    if (current !== undefined) return current
    const starting = startReaper(mark)
    current = starting
    void watch(starting)
    return starting
  }

  const watch = async (starting: Promise<Incarnation>) => {
    try {
      const incarnation = await starting
      pid = incarnation.pid
      for (const line of [...groups].map((group) => `+${group}`).concat(...held)) void send(incarnation, `${line}\n`) // I2
      replace(starting, await incarnation.ended)
    } catch {
      forget(starting) // whoever asked for it is told
    }
  }

  const forget = (dead: Promise<Incarnation>) => {
    if (current !== dead) return
    current = undefined
    pid = undefined
  }

  const replace = (dead: Promise<Incarnation>, lifetime: number) => {
    forget(dead)
    strikes = lifetime < QUICK_DEATH ? strikes + 1 : 0
    if (groups.size + held.size > 0 && strikes < STRIKES) void ensure().catch(() => undefined) // the next `adopt` tries again and tells its caller
  }

  return {
    async adopt(group) {
      groups.add(group)
      try {
        for (let attempt = 0; attempt < 2; attempt++) {
          const reaper = ensure()
          if (await send(await reaper, `+${group}\n`)) return // I1
          forget(reaper)
        }
        throw new SvcError('server.internal', 'No program can be started: the shell that guards child processes keeps ending.')
      } catch (error) {
        groups.delete(group)
        throw error
      }
    },
    release(group) {
      groups.delete(group)
      void current?.then(
        async (incarnation) => send(incarnation, `-${group}\n`),
        () => undefined,
      )
    },
    async keep(paths) {
      const told = paths.filter((path) => !path.includes('\n'))
      for (const path of told) held.add(path)
      if (told.length > 0) await send(await ensure(), `${told.join('\n')}\n`)
    },
    drop(paths) {
      const told = paths.filter((path) => held.delete(path))
      if (told.length === 0) return
      void current?.then(
        async (incarnation) => send(incarnation, told.map((path) => `!${path}\n`).join('')),
        () => undefined,
      )
    },
    mark,
    get pid() {
      return pid
    },
  }
}

async function startReaper(mark: string): Promise<Incarnation> {
  const { execa } = await import('execa')
  const child = execa('/bin/sh', ['-c', SCRIPT, 'svc-reaper', mark], {
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    cwd: '/',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  if (child.pid === undefined) {
    const { cause } = await child
    throw new SvcError('server.internal', 'No program can be started: the shell that guards child processes did not start.', {}, { cause })
  }
  const startedAt = performance.now()
  const ended = new Promise<number>((resolve) => {
    child.once('exit', () => resolve(performance.now() - startedAt))
  })
  child.stdin.on('error', () => undefined) // its death is handled where it is seen, at exit
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref() // I3
  return { pid: child.pid, input: child.stdin, ended }
}

/** Whether the line reached the reaper's pipe. */
async function send(to: Incarnation, line: string): Promise<boolean> {
  return new Promise((resolve) => {
    to.input.write(line, (error) => resolve(!error))
  })
}
