/** Repositories and workspaces that nobody has, opened as a client opens them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurations, histories, indexes, type MakeHostile } from '../../fixtures/hostile-repositories.js'
import { workspaces } from '../../fixtures/hostile-workspaces.js'
import type { Flood, Flooded } from './scene.js'

const WORKFLOW = '---\nid: w\nname: w\nactive: true\nschedule: { frequency: daily }\n---\nSay hello.\n'

/** Answers the directory of a new repository with one commit. */
export function openHostile(root: string, name: string, make: MakeHostile): string {
  const directory = join(root, 'hostile', name.replaceAll(/\W+/g, '-'))
  mkdirSync(join(directory, '.svc/workflows'), { recursive: true })
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: directory, stdio: 'ignore' })
  git('init', '--quiet', '--initial-branch=main')
  writeFileSync(join(directory, 'README.md'), 'hello\n')
  git('add', '.')
  git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-m', 'begin')
  writeFileSync(join(directory, '.svc/workflows/w.md'), WORKFLOW)
  make(directory)
  return directory
}

const READ = ['plugins/dev.svc.workflows', 'plugins/dev.svc.vcs', 'config/validate', 'agents', 'commands', 'skills', 'plugins']

async function openAsClients({ send }: Flooded, directory: string): Promise<void> {
  const query = `?directory=${encodeURIComponent(directory)}`
  await send('POST', `/v2/sessions${query}`, {})
  for (const path of READ) await send('GET', `/v2/${path}${query}`)
}

const corpus = (share: number) => ({ ...histories(share), ...indexes(share), ...configurations(), ...workspaces(share) })

const floodsOf = (share: number): readonly Flood[] =>
  Object.entries(corpus(share)).map(([name, make]) => ({
    name,
    prepare: async ({ place }) => openHostile(place.root, name, make),
    run: (flooded, directory) => openAsClients(flooded, String(directory)),
  }))

export const REPOSITORIES = floodsOf(1)
const SAMPLE = [
  'some replacements of nothing',
  '120 long names',
  'names of 4 kB that share what they begin with',
  '340,000 sections on one line',
  'attributes of one long pattern',
  'workflow files',
  'agent files',
  'configuration of keys without effect',
]
export const SAMPLED_REPOSITORIES = floodsOf(1 / 16).filter(({ name }) => SAMPLE.includes(name))
