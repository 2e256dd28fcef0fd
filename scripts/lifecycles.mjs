/**
 * Lists what has a life outside of machines and the real world (`src/platform/node`): every timer that is set, and every boolean that says
 * where something is in its life. Each has its reason below, and there are few: a life is a machine, a timer with an owner is an alarm
 * (`src/kernel/alarm.ts`), whose users are listed for those who look.
 *
 * What runs in other programs is counted, not explained: the client, the page, the kit of plugins, the Lua sandbox, the reader of web pages and the library of tests.
 *
 * With --check nothing is listed; what has no reason, and a reason of nothing, are named and the exit code is 1.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const MOST = 24
const REASONS = {
  'src/kernel/alarm.ts setTimeout': 'the one place where a timer of the server is set; an alarm is set, rings, or is over',
  'src/server/door.ts setTimeout': 'the time limit of a Node socket, which Node keeps',
  'src/http/answer/unread.ts setTimeout': 'the time limit of a Node socket, which Node keeps',
  'src/cli/commands/doctor/online-checks.ts AbortSignal.timeout': 'how long a command waits for an answer; it ends with the command',
  'src/cli/commands/serve/serve.ts setTimeout': 'the last resort when the runtime, which is a machine, does not stop',
  'src/cli/terminal/spinner.ts setInterval': 'the spinner of a terminal: it ends with the run that is shown, or with the process',
  'src/kernel/supervise.ts isDraining': 'of a whole set of actors, each of which is a machine; the runtime machine is what says drain',
  'src/actors/plugin/registry/door.ts open': 'a gate that closes once; the generation machine is what closes it',
  'src/actors/plugin/link/dropped-frames.ts isOver': 'a flood is told once',
  'src/kernel/message-pace.ts isOver': 'a flood is told once, and nothing of the peer is delivered from then on',
  'src/actors/plugin/link/frame-reader.ts isStopped': 'the link has ended, whose instance is a machine; frames do not pass a machine',
  'src/actors/plugin/process/provider-stream.ts isFinished': 'the finish has come: a place in a stream that is read once',
  'src/plugins/providers/exchange/adapter.ts open': 'one answer, settled once; the run machine waits for it',
  'src/plugins/providers/exchange/connection.ts ended': 'the last byte that is wanted has come: a place in a stream that is read once',
  'src/plugins/providers/openai-compatible/step.ts isOver': 'the finish reason has come: a place in a stream that is read once',
  'src/plugins/pty/client.ts isClosed': 'a reader of the output of a terminal, which is a machine; it reads to the end and is no more',
  'src/plugins/pty/output.ts isFinished': 'a text that grows until its program ends, which the terminal machine hears of',
  'src/http/sockets/websocket.ts over':
    'the library keeps the states of a socket, but not whether its end was ours: then the client is not heard any more',
  'src/store/disk/connection.ts closed': 'a handle that was closed on purpose is not opened again, one that broke is',
  'src/store/disk/log-sync.ts closed': 'a file that is being synced is closed when that is done',
}
const ELSEWHERE = [
  'src/published/client/',
  'src/programs/page/',
  'src/published/kit/',
  'src/programs/sandbox/',
  'src/programs/reader/',
  'src/published/testing/',
]
const LEFT_OUT = ['src/machines/', 'src/platform/node/']
/** A call; a declaration has a type behind its first name. */
const TIMER = /\b(?<name>set(?:Timeout|Interval)|AbortSignal\.timeout)\((?!\w+: )/
/** A variable that is false or true at first, and a field that may be changed. */
const FLAG = /^\s*let (?<name>\w+)(?:: boolean)? = (?:true|false)$/
const FIELD = /^\s+(?<name>\w+): boolean$/
const LIFE = new RegExp(
  `^(is|was|has)?(${[
    'stop(ped|ping)|clos(ed|ing)|end(ed|ing)|retir(ed|ing)|drain(ed|ing)|start(ed|ing)|finish(ed|ing)|settled|cancelled|disposed|destroyed|aborted',
    'done|over|gone|open|live|alive|ready|active|running|serving|broken|failed',
  ].join('|')})$`,
  'i',
)

const arguments_ = process.argv.slice(2)
const root = arguments_.find((each) => !each.startsWith('--')) ?? dirname(dirname(fileURLToPath(import.meta.url)))
const reasons = root === dirname(dirname(fileURLToPath(import.meta.url))) ? REASONS : {}
const found = []
const alarms = []
for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => `src/${name}`))
  if (path.endsWith('.ts') && !LEFT_OUT.some((folder) => path.startsWith(folder))) look(path)

const here = found.filter(({ path }) => !ELSEWHERE.some((folder) => path.startsWith(folder)))
const keys = new Set(here.map(keyOf))
const problems = [
  ...[...keys]
    .filter((key) => reasons[key] === undefined)
    .map((key) => `${key}: has no reason. Make it a machine, or an alarm with an owner.`),
  ...Object.keys(reasons)
    .filter((key) => !keys.has(key))
    .map((key) => `${key}: is a reason of nothing.`),
  ...(here.length < MOST ? [] : [`there are ${here.length}; there may be fewer than ${MOST}.`]),
]
if (!arguments_.includes('--check')) {
  for (const each of here) console.log(`${each.path}:${each.line} ${each.name}: ${reasons[keyOf(each)] ?? '?'}`)
  console.log(`\n${here.length} in the server, ${found.length - here.length} in other programs`)
  console.log(`\nalarms: ${alarms.toSorted((a, b) => a.localeCompare(b)).join(', ')}`)
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

function look(path) {
  for (const [index, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) {
    const name = TIMER.exec(line)?.groups?.name ?? lifeName(FLAG.exec(line)) ?? lifeName(FIELD.exec(line))
    if (name !== undefined) found.push({ path, name, line: index + 1 })
    if (/\b(createAlarm|watchSilence)\(clock|\b(createAlarm|watchSilence)\(\w+\.clock/.test(line)) alarms.push(relative('src', path))
  }
}

function lifeName(match) {
  const name = match?.groups?.name
  return name !== undefined && LIFE.test(name) ? name : undefined
}

function keyOf({ path, name }) {
  return `${path} ${name}`
}
