/** What `svc run` takes. */
import type { AllowPolicy } from '../../answers/answers.js'
import { DIRECTORY, JSON_OUT, type Page, SERVER } from '../../line/page.js'

export const RUN = {
  name: 'run',
  summary: 'ask once, print the answer',
  words: [{ name: 'prompt', many: true }],
  options: {
    dir: { ...DIRECTORY, help: 'work in this directory' },
    server: { ...SERVER, help: 'use this server; its token comes from SVC_AGENT_TOKEN' },
    session: { type: 'text', value: 'id', completes: 'session', help: 'go on in this session' },
    continue: { type: 'flag', short: 'c', help: 'go on in the latest conversation of the directory; forks are named by --session' },
    file: { type: 'text', value: 'path', multiple: true, completes: 'file', help: 'send this file with the prompt; may be repeated' },
    image: { type: 'text', value: 'path', multiple: true, completes: 'file', help: 'send this image with the prompt; may be repeated' },
    model: {
      type: 'text',
      value: 'id',
      completes: 'model',
      help: 'provider/model, such as svc/offline; an id that one provider alone has will do',
    },
    variant: { type: 'text', value: 'name', help: 'variant of the model' },
    agent: { type: 'text', value: 'name', completes: 'agent', help: 'agent to use' },
    config: {
      type: 'text',
      value: 'key=value',
      multiple: true,
      help: 'a key of the configuration for this run alone, as svc config set takes it; may be repeated',
    },
    ephemeral: { type: 'flag', help: 'leave nothing: on a server of its own, whose state is removed' },
    allow: {
      type: 'text',
      value: 'policy',
      choices: ['ask', 'once', 'always', 'reject'],
      help: 'answer to permission requests: ask, once, always or reject',
      otherwise: 'ask',
    },
    unattended: { type: 'flag', help: 'nobody will answer: what the run asks and nobody answers is denied after ten minutes' },
    output: {
      type: 'text',
      value: 'form',
      choices: ['text', 'json', 'events'],
      help: 'text, json (one record at the end) or events (one a line)',
      otherwise: 'text',
    },
    json: { ...JSON_OUT, help: 'short for --output json' },
    quiet: { type: 'flag', short: 'q', help: 'print nothing but the answer and errors' },
    verbose: { type: 'flag', help: 'show more of what tools did, and what it took' },
    thinking: { type: 'flag', help: 'show what the model thinks' },
    'output-last-message': { type: 'text', value: 'file', completes: 'file', help: 'write the text of the last message to this file' },
    'output-schema': {
      type: 'text',
      value: 'file',
      completes: 'file',
      help: 'the answer is JSON that matches the JSON Schema in this file',
    },
  },
  examples: [
    ['svc run "what does this project do?"', 'asks in the current directory'],
    ['git diff | svc run "review this"', 'what is piped in stands after the prompt'],
    ['svc run "explain @src/main.ts" --image shot.png', 'with a file and an image'],
    ['svc run "/review src"', 'a command of the configuration'],
    ['svc run --json "list the routes" | jq -r .answer', 'for a program'],
    ['svc run -c "and now the tests"', 'goes on in the latest session'],
    ['svc run --allow once "fix the typo in README.md"', 'allows what is asked, this time'],
    ['svc run --ephemeral --config model=svc/offline "hello"', 'leaves nothing, with another model'],
  ],
  notes: [
    'The prompt comes from standard input when it is absent or "-"; otherwise what is piped in is added to it. "@path" in it sends that file along, and "/name" at its start runs a command. The server that uses the state directory answers; without one, svc starts its own for as long as it is needed.',
    'The answer goes to standard output, everything else to standard error; text that a failed attempt withdraws does not get there. --output json prints {type, status, exitCode, answer, structured, sessionId, messageId, model, agent, usage, cost, durationMs, refused, error}, also when it fails.',
    '--ephemeral and --config start a server of their own. What --ephemeral did on disk stays; its conversation, its events and its log are gone, and what is remembered as allowed elsewhere does not count for it. --config needs the state directory for itself, unless it is with --ephemeral.',
    'Ctrl-C takes the prompt back, or aborts its run; a second one leaves at once.',
    'Ends with 0 when it is done, 1 when it failed, 2 when the command line was not understood, 3 when something was refused because nobody was there to be asked or answered in time (all of it is listed at the end), and 130 when it was interrupted.',
  ],
} as const satisfies Page

/** `json`: one record at the end. `events`: the events of the session, one a line. */
type RunOutput = 'text' | 'json' | 'events'

export interface RunOptions {
  /** undefined = read the prompt from standard input. */
  readonly prompt: string | undefined
  /** undefined = the running server, or one inside this process. */
  readonly server: string | undefined
  readonly directory: string | undefined
  readonly session: string | undefined
  /** Goes on in the latest session of the directory. */
  readonly continues: boolean
  /** `provider/model`, or an id that one provider alone has. */
  readonly model: string | undefined
  readonly agent: string | undefined
  readonly variant: string | undefined
  readonly output: RunOutput
  /** Where the text of the last message is written. */
  readonly lastMessage: string | undefined
  /** A file with the JSON Schema of the answer. */
  readonly schema: string | undefined
  readonly files: readonly string[]
  readonly images: readonly string[]
  /** Nothing is told beside the answer but errors. */
  readonly isQuiet: boolean
  /** What tools were given and answered, and what it took, also without a screen. */
  readonly isVerbose: boolean
  /** What the model thinks is shown. */
  readonly isThinking: boolean
  /** `key=value`: what is configured for this run alone. */
  readonly config: readonly string[]
  /** On a state directory that is gone afterwards. */
  readonly ephemeral: boolean
  readonly allow: AllowPolicy
  /** Nobody will answer: what stays open is denied after a while. */
  readonly unattended: boolean
}
