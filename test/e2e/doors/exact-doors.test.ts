/** Names and paths mean one thing: the Host of a request (threat-model H2), and the program of an entry (C5). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

let scene: Scene
afterEach(async () => scene.close())

function statusFor(url: string, host: string, path = '/v2/health'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const outgoing = request({ hostname, port, path, agent: false, headers: { host } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

test('Host is compared letter by letter', async () => {
  scene = openScene(makePlace())
  const server = await scene.start({}, 0, ['--allow-host', 'svc.example', '--allow-host', 'proxy.example:8443'])
  const { port } = new URL(server.url)
  const statuses = async (...hosts: string[]) => Promise.all(hosts.map(async (host) => statusFor(server.url, host)))
  const right = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'svc.example', `svc.example:${port}`, 'proxy.example:8443']
  expect(await statuses(...right)).toEqual(right.map(() => 200))
  const wrong = [
    `localhost:0${port}`,
    `127.000.000.001:${port}`,
    `127.0.0.1.:${port}`,
    `localhost.:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
    `me@localhost:${port}`,
    'localhost',
    'proxy.example',
    'proxy.example:08443',
    'svc.example:1',
  ]
  expect(await statuses(...wrong)).toEqual(wrong.map(() => 403))
  expect(await statusFor(server.url, `localhost:${port}`, `http://evil.example:${port}/v2/health`)).toBe(400)
  expect(await statusFor(server.url, `localhost:${port}`, `http://localhost:${port}/v2/health`)).toBe(200)
})

test('a path of the installation is not found in a workspace, and is below the configuration', async () => {
  const marker = (name: string) => `#!${process.execPath}\nrequire('node:fs').writeFileSync(${JSON.stringify(name)}, 'ran')\n`
  scene = openScene(makePlace({ 'bin/tool': marker('from-workspace'), 'tools/x.mjs': '' }))
  const { place } = scene
  place.configure({
    plugins: {
      'dev.example.one': { options: { serve: ['bin/tool'], sandbox: false } },
      'dev.example.two': { options: { entry: 'tools/x.mjs', sandbox: false } },
      'dev.example.three': { options: { serve: [process.execPath, 'tools/x.mjs'], sandbox: false } },
    },
  })
  const server = await scene.start()
  const told = async () => (await server.call('GET', '/v2/plugins')).text
  await expect.poll(told).toContain(`the program \\"${join(dirname(place.configFile), 'bin/tool')}\\" does not exist`)
  await expect.poll(told).toContain('the entry \\"tools/x.mjs\\" is neither a file nor a package')
  await expect.poll(told).toContain('the argument \\"tools/x.mjs\\" names a file of the workspace')

  mkdirSync(join(dirname(place.configFile), 'bin'))
  writeFileSync(join(dirname(place.configFile), 'bin/tool'), marker('from-configuration'), { mode: 0o755 })
  place.configure({ plugins: { 'dev.example.one': { options: { serve: ['bin/tool'], sandbox: false } } } })
  await server.get('/v2/config/validate')
  await expect.poll(async () => (await told(), tryRead(place, 'from-configuration'))).toBe('ran')
  expect(tryRead(place, 'from-workspace')).toBeUndefined()
})

function tryRead(place: Scene['place'], name: string): string | undefined {
  try {
    return place.read(name)
  } catch {
    return undefined
  }
}
