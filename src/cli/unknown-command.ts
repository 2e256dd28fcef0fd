/** What is said of a command there is not: the one that is meant, also where other agents of the terminal call it otherwise. Pure. */
import { PAGES } from './help/pages.js'
import { meant } from './line/nearest.js'

/** By the names that opencode, Codex, Claude Code, git and gh have for it. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['apply', 'svc run'],
  ['ask', 'svc run'],
  ['attach', 'svc chat --server <url>'],
  ['continue', 'svc -c'],
  ['exec', 'svc run'],
  ['export', 'svc session export'],
  ['fork', 'svc session fork'],
  ['import', 'svc session import'],
  ['init', 'svc run /init'],
  ['install', 'svc plugin add'],
  ['login', 'svc auth login'],
  ['logout', 'svc auth logout'],
  ['resume', 'svc -c for the latest conversation, svc session list for the others'],
  ['stats', 'svc usage'],
  ['status', 'svc doctor, or svc session list'],
  ['uninstall', 'svc upgrade, which says how svc was installed'],
  ['update', 'svc upgrade'],
  ['version', 'svc --version'],
  ['web', 'svc inspect'],
  ['whoami', 'svc auth list'],
])

/** In one sentence, without a full stop. */
export function unknownCommand(name: string): string {
  const instead = ELSEWHERE.get(name.toLowerCase())
  if (instead !== undefined) return `there is no command "${name}"; it is ${instead}`
  const names = PAGES.flatMap((each) => ('alias' in each && each.alias !== undefined ? [each.name, each.alias] : [each.name]))
  const there = meant(name, names) || `; the commands are ${PAGES.map((each) => each.name).join(', ')}`
  return `there is no ${name.startsWith('-') ? 'option' : 'command'} "${name}"${there}`
}
