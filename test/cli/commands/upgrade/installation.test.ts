import { expect, it } from 'vitest'
import { installationOf, upgradeSteps } from '../../../../src/cli/commands/upgrade/installation.js'

const there = (...paths: string[]) => ({ exists: (path: string) => paths.includes(path), isWritable: (): boolean => true })
const NODE = '/usr/bin/node'

it.each([
  ['clone', '/home/ada/svc', NODE, there()],
  ['global', '/usr/lib/node_modules/@svc-runtime/svc', NODE, there()],
  ['global', '/home/ada/.nvm/versions/node/v22/lib/node_modules/@svc-runtime/svc', NODE, there('/home/ada/package.json')],
  ['npx', '/home/ada/.npm/_npx/0f1e/node_modules/@svc-runtime/svc', NODE, there('/home/ada/.npm/_npx/0f1e/package.json')],
  ['dependency', '/srv/app/node_modules/svc', NODE, there('/srv/app/package.json')],
  ['standalone', '/opt/svc-0.1.0-linux-x64/lib', '/opt/svc-0.1.0-linux-x64/bin/node', there()],
  ['image', '/usr/lib/node_modules/@svc-runtime/svc', NODE, { ...there('/run/.containerenv'), isWritable: (): boolean => false }],
  ['global', '/usr/lib/node_modules/@svc-runtime/svc', NODE, there('/.dockerenv')],
] as const)('tells %s by where the program lies: %s', (expected, root, node, around) => {
  expect(installationOf({ root, node, ...around })).toBe(expected)
  expect(upgradeSteps(expected, { root, packageName: '@svc-runtime/svc' }).length).toBeGreaterThan(0)
})
