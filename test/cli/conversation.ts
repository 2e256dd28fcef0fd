/** A conversation of the built program at a real terminal, in a home of its own. */
import type { Home } from './program.js'
import { record, type Recording, type Size, type Sought } from './recording.js'

export const CTRL = { c: '\u0003', d: '\u0004', r: '\u0012', u: '\u0015', v: '\u0016' }

/** A prompt that the offline model plays. */
export const script = (...steps: readonly Record<string, unknown>[]) => `\`\`\`svc-script\n${JSON.stringify(steps)}\n\`\`\``

export interface Opened extends Recording {
  readonly cwd: string
  /** Pastes a prompt and sends it. */
  say(prompt: string): void
}

export interface Opening {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly size?: Size
  readonly at?: Home
}

export function openConversation(
  home: Home,
  { args = [], env = {}, size = { cols: 80, rows: 40 }, at = home.elsewhere() }: Opening = {},
): Opened {
  const place = {
    cwd: at.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.path, SVC_AGENT_STATE_DIR: home.state, TERM: 'xterm-256color', ...env },
  }
  const recording = record(args, place, size)
  return { ...recording, cwd: at.workspace, say: (prompt) => recording.type(`\u001b[200~${prompt}\u001b[201~\r`) }
}

export async function leave(screen: Recording): Promise<{ readonly code: number; readonly screen: string }> {
  screen.type(CTRL.d)
  const { code, screen: shown } = await screen.ended
  // What follows names the session, whose id a narrow window breaks.
  return { code, screen: shown.replace(/go on with: [^]*$/, '') }
}

/** Without the breaks that the width makes. */
export const flat = (text: string) => text.replaceAll(/\s+/g, '')

/** For `shows`: one text after the other, wherever their lines break. */
export function across(...texts: readonly string[]): Sought {
  const wanted = texts.map((text) => flat(text).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('[^]*')
  return { test: (shown) => new RegExp(wanted).test(flat(shown)), toString: () => texts.join(' … ') }
}
