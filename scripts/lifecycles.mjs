/**
 * Lists what has, or may hide, a life outside of machines and the real world (`src/platform/node`): every timer that is set, every boolean
 * that says where something is in its life, every alarm that is asked whether it is over, every signal that is kept to be aborted, every
 * promise that is kept to be waited for, and every word that says where something is. Each has its reason below: a life is a machine, a
 * timer with an owner is an alarm (`src/kernel/alarm.ts`), whose users are listed for those who look. What ought to be a machine says so,
 * and is counted.
 *
 * What runs in other programs is counted, not explained: the client, the page, the kit of plugins, the Lua sandbox,
 * the reader of web pages, the toolbox and the library of tests.
 *
 * With --check nothing is listed; what has no reason, and a reason of nothing, are named and the exit code is 1.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Begins the reason of what is a life by its nature, and has no machine yet. */
const TO_DRAW = 'to be drawn: '
const CALL = 'cuts off what one call has begun; it ends with that call'
const EFFECT = 'cuts off an effect of a machine; its state is what ends it'
const ONCE = 'what is read once: whoever asks meanwhile waits for the same'
const REASONS = {
  'src/kernel/alarm.ts setTimeout': 'the one place where a timer of the server is set; an alarm is set, rings, or is over',
  'src/server/door.ts setTimeout': 'the time limit of a Node socket, which Node keeps',
  'src/http/answer/unread.ts setTimeout': 'the time limit of a Node socket, which Node keeps',
  'src/cli/commands/doctor/online-checks.ts AbortSignal.timeout': 'how long a command waits for an answer; it ends with the command',
  'src/cli/commands/plugin/plugin-taken-up.ts AbortSignal.timeout':
    'how long a command waits for a package to start; it ends with the command',
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
  'src/platform/git/pipes.ts AbortController found': 'one look beside one call of git, which ends with that call; found once',
  'src/platform/git/pipes.ts AbortController over': 'the same look: its call has ended',
  'src/plugins/pty/client.ts isClosed': 'a reader of the output of a terminal, which is a machine; it reads to the end and is no more',
  'src/plugins/pty/output.ts isFinished': 'a text that grows until its program ends, which the terminal machine hears of',
  'src/http/sockets/websocket.ts over':
    'the library keeps the states of a socket, but not whether its end was ours: then the client is not heard any more',
  'src/store/disk/connection.ts closed': 'a handle that was closed on purpose is not opened again, one that broke is',
  'src/store/disk/log-sync.ts closed': 'a file that is being synced is closed when that is done',
  // An alarm that is asked whether it is over, in place of a flag.
  'src/actors/events/side-streams.ts repeat.isOver': 'a reader of the stream has left; its socket is what ended it',
  'src/actors/plugin/process/external-events.ts retry.isOver':
    'the process has ended, whose instance is a machine; its alarm is over with it',
  'src/http/sockets/websocket.ts tending.isOver': 'the library keeps the states of the socket; its alarm is over with it',
  'src/plugins/shell/run/running-output.ts next.isOver': 'the command has ended, whose call is a machine; its alarm is over with it',
  'src/plugins/workflows/files/library.ts relook.isOver': `${TO_DRAW}looking at workflow files, once more when something changed meanwhile`,
  'src/plugins/workflows/files/root-watch.ts settled.isOver': `${TO_DRAW}looking at workflow files, once more when something changed meanwhile`,
  'src/plugins/workflows/runs/agenda.ts alarm.isOver': 'the engine has stopped, which is a machine; its alarm is over with it',
  'src/plugins/workflows/schedule/activations.ts agenda.isOver': 'the engine has stopped, which is a machine; its agenda is over with it',
  // Signals that are kept to be aborted.
  'src/cli/commands/plugin/plugin-taken-up.ts AbortController enough': CALL,
  'src/cli/commands/plugin/test/conversation.ts AbortController over': CALL,
  'src/actors/runtime/assembly.ts AbortController stopping':
    'told by the runtime machine that it stops; it is read by those who wait for that',
  'src/actors/provider/sign-in/sign-in.actor.ts AbortController leaving': EFFECT,
  'src/actors/workspace/clone.actor.ts AbortController left': EFFECT,
  'src/actors/plugin/brokers/capability-lease.ts AbortController stop': EFFECT,
  'src/actors/plugin/brokers/network/whole-answer.ts AbortController late': CALL,
  'src/actors/plugin/brokers/network/exchange.ts AbortController stop':
    'cuts off what a lease keeps open, which is a machine; the streams of the platform say what of it is over',
  'src/actors/plugin/process/external-routes.ts AbortController opening': CALL,
  'src/actors/plugin/link/reverse-requests.ts AbortController stop':
    'the link is retired by its instance, which is a machine; what it serves is cut off',
  'src/actors/plugin/package/built-ins.ts AbortController over': `${TO_DRAW}following which built-ins are on, once more when something changed meanwhile`,
  'src/actors/plugin/package/root-watches.ts AbortController over':
    'a watch that opens after the end is closed at once; the package supervisor is what ends them',
  'src/actors/plugin/entry/npm-cache.ts AbortController stopping': `${TO_DRAW}the installation of a package: it runs, or failed and is tried again later`,
  'src/actors/plugin/entry/hook-command.ts AbortController killed':
    'the instance has ended, which is a machine; commands it runs are cut off',
  'src/actors/plugin/entry/hook-process.ts AbortController excess': CALL,
  'src/actors/plugin/native/native-calls.ts AbortController controller': CALL,
  'src/actors/events/subscriptions.ts AbortController left': EFFECT,
  'src/actors/session/sessions.ts AbortController limit': CALL,
  'src/actors/session/compaction/compaction.actor.ts AbortController controller': EFFECT,
  'src/actors/session/run/title.actor.ts AbortController left': EFFECT,
  'src/actors/session/run/step.ts AbortController stop': CALL,
  'src/actors/session/run/run.actor.ts AbortController controller': EFFECT,
  'src/actors/artifact/artifacts.ts AbortController ended': CALL,
  'src/actors/host/models.ts AbortController enough': CALL,
  'src/actors/host/session-artifacts.ts AbortController ended': CALL,
  'src/http/calls.ts AbortController closing': 'the runtime machine says that the server closes; every call that runs hears of it',
  'src/http/calls.ts AbortController controller': CALL,
  'src/kernel/served.ts AbortController stopping': 'of a whole pool; the runtime machine is what says stop',
  'src/kernel/patience.ts AbortController late': 'the signal of a time limit, which its alarm aborts',
  'src/cli/terminal/interruption.ts AbortController controller':
    'the first interruption of a command, of which the second ends the process',
  'src/cli/commands/auth/auth-login.ts AbortController ended': CALL,
  'src/cli/commands/chat/chat.ts AbortController left': 'the command ends with its input; what it waits for is cut off',
  'src/cli/commands/chat/chat-turns.ts AbortController ended': CALL,
  'src/cli/commands/chat/chat-turns.ts AbortController run': CALL,
  'src/cli/commands/session/session-release.ts AbortController ended': CALL,
  'src/cli/commands/run/prompt-input.ts AbortController given': CALL,
  'src/plugins/subagents/delegation.ts AbortController over':
    'of all tasks, each of which is a machine; the runtime machine is what says stop',
  'src/plugins/providers/exchange/connection.ts AbortController closing': CALL,
  'src/plugins/lsp/link/connection.ts AbortController over':
    'the program is gone, of which the client machine is told; who waits for an answer hears why',
  'src/plugins/lsp/clients/findings.ts AbortController done': CALL,
  'src/plugins/semantic/embeddings.ts AbortController over': `${TO_DRAW}vectors of the search`,
  'src/plugins/semantic/indexer.ts AbortController over': CALL,
  'src/plugins/shell/jobs/jobs.ts AbortController over':
    'of all commands in the background, each of which is a machine; the runtime machine is what says stop',
  'src/plugins/workflows/runs/run.actor.ts AbortController left': EFFECT,
  'src/plugins/files/search/ripgrep.ts AbortController enough': CALL,
  'src/plugins/vcs/branches.ts AbortController left': EFFECT,
  'src/plugins/mcp/link/session.ts AbortController flood':
    'the session sends without end, of which the connection machine is told; what it sends is cut off',
  'src/plugins/mcp/link/session.ts AbortController over':
    'the end of a session that is meant is no loss, of which the connection machine would be told',
  'src/plugins/mcp/link/stdio.ts AbortController over':
    'the transport of a session, whose connection is a machine: after its end nothing is delivered',
  // Promises that are kept to be waited for.
  'src/actors/provider/catalog/source.ts Promise opening': ONCE,
  'src/actors/provider/catalog/source.ts Promise pending': ONCE,
  'src/actors/provider/catalog/discover.ts Promise pending': ONCE,
  'src/actors/resource/facade/resources.ts Promise places': ONCE,
  'src/actors/resource/contributed/answers.ts Promise asked': ONCE,
  'src/actors/workspace/clone.actor.ts Promise work': 'the last step that the clone machine began ends before the next does anything',
  'src/actors/plugin/process/process-instance.ts Promise opening':
    'the start that the instance machine began ends before what it left is killed',
  'src/actors/plugin/package/built-ins.ts Promise following': `${TO_DRAW}following which built-ins are on, once more when something changed meanwhile`,
  'src/actors/plugin/entry/npm-cache.ts Promise last': 'a lane that is kept by hand: packages are installed one after the other',
  'src/actors/plugin/entry/hook-command.ts Promise handling': 'a queue of events that is worked off: there is work, or there is none',
  'src/actors/plugin/native/native-instance.ts Promise before': 'a generation is a machine; the next starts when the last has stopped',
  'src/actors/plugin/native/native-instance.ts Promise stopped': 'a stop that is asked for twice is one stop; the generation is a machine',
  'src/actors/session/restore/kept-contents.ts Promise counted': ONCE,
  'src/platform/git/objects/objects.ts Promise packs': ONCE,
  'src/platform/git/program/git-program.ts Promise checked': ONCE,
  'src/kernel/lane.ts Promise last': 'the lane itself: the one place where work that is done one after the other is chained',
  'src/plugins/providers/exchange/adapter.ts Promise models': ONCE,
  'src/plugins/semantic/embeddings.ts Promise passing': `${TO_DRAW}vectors of the search`,
  'src/plugins/shell/parse/syntax.ts Promise loading': ONCE,
  'src/plugins/shell/run/environment.ts Promise capturing': ONCE,
  'src/plugins/workflows/files/managed.ts Promise turn': 'a lane that is kept by hand: workflow files are written one after the other',
  'src/plugins/workflows/files/library.ts Promise turn': `${TO_DRAW}looking at workflow files, once more when something changed meanwhile`,
  'src/plugins/workflows/files/library.ts Promise ready': `${TO_DRAW}looking at workflow files, once more when something changed meanwhile`,
  'src/plugins/workflows/schedule/engine.actor.ts Promise step':
    'the last step that the engine machine began ends before the end of everything',
  'src/plugins/files/change/locks.ts Promise tail': 'a lane for each path, kept by hand: it also counts readers',
  'src/plugins/documents/documents.plugin.ts Promise loaded': ONCE,
  // Words that say where something is.
  'src/actors/plugin/process/watchdog.ts state phase':
    'what an instance, which is a machine, has said last of where it is; it decides which silence is too long',
  'src/actors/plugin/link/streams.ts state state': 'a fold over frames, pure and tested by itself: what it answers is the next state',
  'src/actors/plugin/link/link.ts state state': `${TO_DRAW}a link is open, retired or closed`,
  'src/http/request/json.ts state expects': 'what a parser expects next',
  'src/http/streams/sse.ts state phase': 'a place in an answer: its head is written once, and nothing after its end',
  'src/kernel/alarm.ts state state': 'the alarm itself: the one place where a timer of the server is kept',
  'src/plugins/semantic/embeddings.ts state state': `${TO_DRAW}vectors of the search`,
  'src/plugins/files/format/guards.ts state type': 'a kind of file, as far as it was read',
}
const ELSEWHERE = [
  'src/published/client/',
  'src/programs/page/',
  'src/published/kit/',
  'src/programs/sandbox/',
  'src/programs/reader/',
  'src/programs/toolbox/',
  'src/published/testing/',
]
const LEFT_OUT = ['src/machines/', 'src/platform/node/']
/** A call; a declaration has a type behind its first name. */
const TIMER = /\b(?<name>set(?:Timeout|Interval)|AbortSignal\.timeout)\((?!\w+: )/
/** A variable that is false or true at first, and a field that may be changed. */
const FLAG = /^\s*let (?<name>\w+)(?:: boolean)? = (?:true|false)$/
const FIELD = /^\s+(?<name>\w+): boolean$/
/** An alarm that is asked; `src/kernel/alarm.ts` is where it answers. */
const OVER = /\b(?<name>\w+)\??\.isOver\b/
const SIGNAL = /^\s*(?:const|let) (?<name>\w+) = new AbortController\(\)/
/** A variable, and a field that may be changed. */
const PROMISE = /^\s*let (?<name>\w+): Promise<|^\s+(?<field>\w+): Promise<[^=(){},]*>(?: \| undefined)?$/
/** A variable that is one of several words, and what is called so. */
const WORD = /^\s*let (?<name>\w+): '[\w-]+' \||^\s*let (?<called>state|phase|stage)\b|^\s+(?<field>state|phase|stage): '[\w-]+' \| '/
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
]
if (!arguments_.includes('--check')) {
  for (const each of here) console.log(`${each.path}:${each.line} ${each.name}: ${reasons[keyOf(each)] ?? '?'}`)
  const toDraw = [...keys].filter((key) => reasons[key]?.startsWith(TO_DRAW)).length
  console.log(`\n${keys.size} in the server, of which ${toDraw} are to be drawn; ${found.length - here.length} in other programs`)
  console.log(`\nalarms: ${alarms.toSorted((a, b) => a.localeCompare(b)).join(', ')}`)
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

function look(path) {
  for (const [index, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) {
    const name = TIMER.exec(line)?.groups?.name ?? lifeName(FLAG.exec(line)) ?? lifeName(FIELD.exec(line)) ?? hiddenName(path, line)
    if (name !== undefined) found.push({ path, name, line: index + 1 })
    if (/\b(createAlarm|watchSilence)\(clock|\b(createAlarm|watchSilence)\(\w+\.clock/.test(line)) alarms.push(relative('src', path))
  }
}

function lifeName(match) {
  const name = match?.groups?.name
  return name !== undefined && LIFE.test(name) ? name : undefined
}

/** What stands where a flag would. */
function hiddenName(path, line) {
  const alarm = path === 'src/kernel/alarm.ts' ? undefined : nameIn(OVER.exec(line))
  if (alarm !== undefined) return `${alarm}.isOver`
  const [signal, promise, word] = [SIGNAL, PROMISE, WORD].map((pattern) => nameIn(pattern.exec(line)))
  if (signal !== undefined) return `AbortController ${signal}`
  if (promise !== undefined) return `Promise ${promise}`
  return word === undefined ? undefined : `state ${word}`
}

function nameIn(match) {
  return match?.groups?.name ?? match?.groups?.called ?? match?.groups?.field
}

function keyOf({ path, name }) {
  return `${path} ${name}`
}
