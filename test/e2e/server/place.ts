/** Where one test lives: a home, a state directory, a configuration directory and a real Git repository, all temporary. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { planted, plantKey } from '../../fixtures/planted.js'

export interface Place {
  readonly root: string
  readonly home: string
  readonly state: string
  readonly repo: string
  readonly configFile: string
  /** Environment of programs started here: nothing inherited but the search path. */
  readonly env: Readonly<Record<string, string>>
  /** Replaces the installation configuration; a string is written as it is. */
  configure(document: object | string): void
  write(name: string, content: string): void
  read(name: string): string
  remove(): void
}

/** `files` are committed in the repository, by relative name. */
export function makePlace(files: Readonly<Record<string, string>> = { 'README.md': 'hello\n' }): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-e2e-')))
  const at = (name: string) => {
    const path = join(root, name)
    mkdirSync(path)
    return path
  }
  const home = at('home')
  const state = at('state')
  plantKey(state)
  const config = join(at('config'), 'svc')
  const repo = at('repo')
  const configFile = join(config, 'svc.json')
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: dirname(config),
    XDG_CACHE_HOME: join(root, 'cache'),
    SVC_AGENT_STATE_DIR: state,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, stdio: 'ignore' })
  beginRepository(repo)
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(repo, name)), { recursive: true })
    writeFileSync(join(repo, name), content)
  }
  mkdirSync(config)
  for (const [name, content] of Object.entries(files)) write(name, content)
  git('add', '.')
  git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-m', 'begin')

  return {
    root,
    home,
    state,
    repo,
    configFile,
    env,
    configure(document) {
      // In one step, as editors and `svc` itself do: a file that is being written reads as an empty one.
      writeFileSync(`${configFile}.new`, planted(document))
      renameSync(`${configFile}.new`, configFile)
    },
    write,
    read: (name) => readFileSync(join(repo, name), 'utf8'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** What `git init --initial-branch=main` writes, without its samples, which take it four times as long. */
function beginRepository(repo: string): void {
  for (const name of ['branches', 'hooks', 'info', 'objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(repo, '.git', name), { recursive: true })
  writeFileSync(join(repo, '.git/HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(
    join(repo, '.git/config'),
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
  )
}

/** Configuration with the scripted model server at `baseURL` as the default model, of which `more` is said. */
export function withModel(baseURL: string, rest: object = {}, more: object = {}): object {
  return {
    model: 'test/scripted',
    provider: {
      test: {
        npm: '@ai-sdk/openai-compatible',
        auth: 'none',
        options: { baseURL },
        models: { scripted: { name: 'Scripted', limit: { context: 100_000, output: 4000 }, ...more } },
      },
    },
    ...rest,
  }
}
