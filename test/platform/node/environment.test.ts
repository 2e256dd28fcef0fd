// Holds threat-model K1.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { childEnvironment, readEnvironment } from '../../../src/platform/node/environment.js'
import { bundleProgram, jsonLines } from '../../fakes/programs.js'

describe('the environment of children', () => {
  it('is an allow-list: places, language, identity, toolchains', () => {
    const allowed = {
      HOME: '/home/me',
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      SSH_AUTH_SOCK: '/run/agent',
      GIT_AUTHOR_NAME: 'Me',
      CARGO_HOME: '/home/me/.cargo',
      XDG_RUNTIME_DIR: '/run/user/1',
      HTTPS_PROXY: 'http://proxy.local:3128',
    }
    const refused = {
      SVC_AGENT_TOKEN: 'a',
      OPENAI_API_KEY: 'b',
      GITHUB_TOKEN: 'c',
      AWS_SECRET_ACCESS_KEY: 'd',
      DATABASE_PASSWORD: 'e',
      MY_CREDENTIALS: 'f',
      GIT_SSH_COMMAND: 'g',
      GIT_CONFIG_GLOBAL: 'h',
      NODE_OPTIONS: '--require=/x',
      LC_API_KEY: 'i',
      UNKNOWN: 'j',
      LD_PRELOAD: '/x.so',
    }
    expect(childEnvironment({ PATH: '/bin', ...allowed, ...refused })).toEqual({ PATH: '/bin', ...allowed })
  })

  it('passes no value that carries a login', () => {
    expect(childEnvironment({ PATH: '/bin', http_proxy: 'http://me:pw@proxy:1', GOPROXY: 'https://token@goproxy.local' })).toEqual({
      PATH: '/bin',
    })
  })

  it('has a search path of absolute entries, once each, and never none', () => {
    expect(childEnvironment({ PATH: ':/a:.:b/c:/a:/b:' })['PATH']).toBe('/a:/b')
    expect(childEnvironment({ PATH: '.:' })['PATH']).toBe('/usr/local/bin:/usr/bin:/bin')
    expect(childEnvironment({})['PATH']).toBe('/usr/local/bin:/usr/bin:/bin')
  })

  it('is a frozen copy, as is what the server read', () => {
    const source = { PATH: '/bin', HOME: '/home/me' }
    const env = readEnvironment(source)
    source.HOME = '/elsewhere'
    expect(env['HOME']).toBe('/home/me')
    expect([Object.isFrozen(env), Object.isFrozen(childEnvironment(env))]).toEqual([true, true])
  })
})

/** Scrubs its environment, tells the result, then what a program it starts sees; lives until its input ends. */
const SCRUBBED = `
import { createNodeEffects } from './src/platform/node/node-effects.ts'
import { scrubEnvironment } from './src/platform/node/environment.ts'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
const effects = createNodeEffects()
const { erased } = scrubEnvironment()
await lookup('localhost')
await effects.files.stat('/')
say({
  erased,
  token: effects.env['SVC_AGENT_TOKEN'],
  current: [process.env['SVC_AGENT_TOKEN'] ?? null, process.env['OTHER_API_KEY'] ?? null, process.env['HOME'], process.env['TZ']],
  child: execFileSync('/usr/bin/env', { encoding: 'utf8' }),
  hour: new Date(0).getHours(),
  hashed: createHash('sha256').update('x').digest('hex').length,
})
process.stdin.resume()
`

describe.skipIf(process.platform !== 'linux')('a scrubbed server', () => {
  it('shows its secrets neither in its environment block nor to what it starts, and works on', async () => {
    const env = {
      PATH: '/usr/bin:/bin',
      SVC_AGENT_TOKEN: 'sekret-one',
      HOME: '/home/me',
      OTHER_API_KEY: 'sekret-two',
      TZ: 'Asia/Tokyo',
      EMPTY: '',
    }
    const server = spawn(process.execPath, [bundleProgram(SCRUBBED)], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    try {
      const { child, ...rest } = z.looseObject({ child: z.string() }).parse(await jsonLines(server.stdout)())
      expect(rest).toEqual({ erased: true, token: 'sekret-one', current: [null, null, '/home/me', 'Asia/Tokyo'], hour: 9, hashed: 64 })
      expect(child).not.toContain('sekret')
      const block = readFileSync(`/proc/${server.pid}/environ`, 'utf8')
      expect(block.split('\0').filter((entry) => entry !== '')).toEqual(['PATH=/usr/bin:/bin', 'HOME=/home/me', 'TZ=Asia/Tokyo'])
    } finally {
      server.stdin.end()
    }
    expect(await new Promise((resolve) => server.once('exit', resolve))).toBe(0)
  })

  it('would show them without scrubbing', async () => {
    const program = bundleProgram(`process.stdout.write('1\\n'); process.stdin.resume()`)
    const server = spawn(process.execPath, [program], { env: { SVC_AGENT_TOKEN: 'sekret-one' }, stdio: ['pipe', 'pipe', 'inherit'] })
    await jsonLines(server.stdout)()
    expect(readFileSync(`/proc/${server.pid}/environ`, 'utf8')).toContain('sekret-one')
    server.stdin.end()
  })
})
