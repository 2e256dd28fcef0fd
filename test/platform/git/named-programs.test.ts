import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createNamedPrograms } from '../../../src/platform/git/named-programs.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { type Checkout, makeCheckout, temporary } from './checkout.js'

const programs = createNamedPrograms({ files: createNodeFiles(), paths: createFakeEffects().paths })

async function named({ directory }: Pick<Checkout, 'directory'>, command: string): Promise<readonly string[]> {
  return (await programs.named(directory, command)).map((text) => text.replaceAll(directory, '…'))
}

function configured(...settings: readonly (readonly [key: string, value: string])[]): Checkout {
  const checkout = makeCheckout()
  for (const [key, value] of settings) checkout.git('config', '--add', key, value)
  return checkout
}

describe('what a repository names for a command of git', () => {
  test('is nothing in a fresh one, nor where there is none', async () => {
    expect(await named(makeCheckout(), 'commit')).toEqual([])
    expect(await programs.named('/', 'status')).toEqual([])
  })

  test('is told with its value and its repository, for the commands that start it', async () => {
    const checkout = configured(['diff.external', './evil'], ['core.sshCommand', './ssh'])
    expect(await named(checkout, 'diff')).toEqual(['diff.external=./evil in …/.git'])
    expect(await named(checkout, 'fetch')).toEqual(['core.sshcommand=./ssh in …/.git'])
    expect(await named(checkout, 'branch')).toEqual([])
    expect(await named(checkout, 'not-known')).toEqual(['core.sshcommand=./ssh in …/.git', 'diff.external=./evil in …/.git'])
  })

  test('is told for every value of a setting that stands twice', async () => {
    expect(await named(configured(['credential.helper', '!evil'], ['credential.helper', 'store']), 'push')).toEqual([
      'credential.helper=!evil in …/.git',
    ])
  })

  test('leaves out what is usual and starts nothing of the repository', async () => {
    const checkout = configured(
      ['core.fsmonitor', 'true'],
      ['filter.lfs.process', 'git-lfs filter-process'],
      ['filter.lfs.clean', 'git-lfs clean -- %f'],
      ['credential.helper', 'osxkeychain'],
      ['core.pager', 'less'],
      ['remote.origin.url', 'git@example.org:a/b.git'],
    )
    for (const command of ['status', 'add', 'push', 'log']) expect(await named(checkout, command)).toEqual([])
  })

  test('is everything of the network for every command when missing objects are fetched', async () => {
    const checkout = configured(['remote.origin.url', 'ext::sh -c evil'], ['remote.origin.promisor', 'true'])
    expect(await named(checkout, 'log')).toEqual(['remote.origin.url=ext::sh -c evil in …/.git'])
  })

  test('is what the repository on this machine starts that something is pushed to', async () => {
    const [checkout, other] = [makeCheckout(), makeCheckout()]
    chmodSync(other.write('.git/hooks/post-receive', ''), 0o755)
    chmodSync(other.write('.git/hooks/pre-commit', ''), 0o755)
    expect(await named(checkout, 'push')).toEqual([])
    checkout.git('config', 'remote.near.url', other.directory)
    expect((await named(checkout, 'push')).map((text) => text.replaceAll(other.directory, 'other'))).toEqual([
      'hook other/.git/hooks/post-receive in other/.git',
    ])
    expect(await named(checkout, 'fetch')).toEqual([])
  })

  test('has hooks that are executable, where the configuration says they are', async () => {
    const checkout = makeCheckout()
    chmodSync(checkout.write('.git/hooks/pre-commit', ''), 0o755)
    chmodSync(checkout.write('.git/hooks/post-commit', ''), 0o644)
    expect(await named(checkout, 'commit')).toEqual(['hook …/.git/hooks/pre-commit in …/.git'])
    expect(await named(checkout, 'status')).toEqual([])
    checkout.git('config', 'core.hooksPath', '.husky')
    chmodSync(checkout.write('.husky/post-index-change', ''), 0o755)
    expect(await named(checkout, 'status')).toEqual(['hook …/.husky/post-index-change in …/.git'])
  })

  test('has what a submodule names, and a repository that is not called .git', async () => {
    const inner = configured(['core.fsmonitor', './evil'])
    inner.write('a', 'a')
    inner.commit()
    const outer = makeCheckout()
    outer.git('submodule', '--quiet', 'add', inner.directory, 'inner')
    outer.git('-C', 'inner', 'config', 'core.fsmonitor', './evil')
    expect(await named(outer, 'status')).toEqual(['core.fsmonitor=./evil in …/.git/modules/inner'])

    const bare = join(temporary(), 'bare')
    mkdirSync(bare)
    makeCheckout(bare, '--bare').git('config', 'core.fsmonitor', './evil')
    expect(await named({ directory: bare }, 'status')).toEqual(['core.fsmonitor=./evil in …'])
  })

  test('is asked about when it cannot be read, and shown without what a terminal would do with it', async () => {
    const broken = makeCheckout()
    broken.write('.git/config', '[core\n')
    expect(await named(broken, 'status')).toEqual(['what cannot be read (line 1 of the git configuration cannot be read) around …'])
    const [text] = await named(configured(['core.fsmonitor', `./evil\u001b[2J${'x'.repeat(400)}`]), 'status')
    expect(text).toMatch(/^core\.fsmonitor=\.\/evil\ufffd\[2Jx+… \(sha256 [0-9a-f]{64}\) in …\/\.git$/)
  })
})
