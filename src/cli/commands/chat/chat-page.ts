/** What `svc chat` takes. */
import type { RunOptions } from '../run/run-page.js'
import { DIRECTORY, JSON_OUT, type Page, SERVER } from '../../line/page.js'

export const CHAT = {
  name: 'chat',
  summary: 'talk in turns, at a terminal',
  words: [],
  options: {
    dir: { ...DIRECTORY, help: 'work in this directory' },
    server: { ...SERVER, help: 'use this server; its token comes from SVC_AGENT_TOKEN' },
    session: { type: 'text', value: 'id', completes: 'session', help: 'go on in this session' },
    continue: { type: 'flag', short: 'c', help: 'go on in the latest conversation of the directory; forks are named by --session' },
    model: { type: 'text', value: 'id', completes: 'model', help: 'provider/model, or an id that one provider alone has' },
    agent: { type: 'text', value: 'name', completes: 'agent', help: 'agent to use' },
    verbose: { type: 'flag', help: 'show more of what tools did' },
    thinking: { type: 'flag', help: 'show what the model thinks' },
    json: { ...JSON_OUT, help: 'not here: svc run --json is for programs' },
  },
  examples: [
    ['svc chat', 'a new conversation in the current directory'],
    ['svc chat -c', 'goes on in the latest one'],
  ],
  notes: [
    'What is typed while a run is under way steers it. A line that ends with "\\" goes on in the next one. "@path" sends a file along, the tab key completes paths and commands, arrow keys go through what was typed before.',
    '/help lists the commands: /queue <prompt>, /undo, /redo, /new, /model <id>, /agent <name>, /thinking, /exit, and those of the configuration.',
    'Ctrl-C takes away what is typed, or interrupts the run, or leaves when pressed twice; Ctrl-D leaves.',
  ],
} as const satisfies Page

const { json: _, ...CONVERSATION } = CHAT.options

/** What `svc` alone takes. */
export const SCREEN = {
  name: '',
  summary: 'a conversation on the whole terminal',
  words: [],
  options: { ...CONVERSATION, plain: { type: 'flag', help: 'lines only, of which none is painted again: for screen readers' } },
  examples: [],
} as const satisfies Page

export interface ScreenOptions extends ChatOptions {
  readonly isPlain: boolean
}

export interface ChatOptions
  extends Pick<RunOptions, 'server' | 'directory' | 'session' | 'continues' | 'model' | 'agent' | 'isVerbose' | 'isThinking'> {}
