/** Everything that a callback of a plugin is handed stands in docs/plugins.md: what is only in the types is found by chance, and misunderstood. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8')
const types = `${read('src/published/kit/host-types.ts')}\n${read('src/published/kit/plugin-types.ts')}`
const guide = read('docs/plugins.md')

/** Names of the members of an interface, without those of what it extends. */
function membersOf(name: string): string[] {
  const body = new RegExp(`interface ${name}(?: extends \\w+)? \\{\\n([^]*?)\\n\\}`).exec(types)?.[1]
  if (body === undefined) throw new Error(`there is no interface ${name}`)
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member)
}

const isNamed = (member: string) => new RegExp(`\`(?:\\w+\\.)?${member}\\b`).test(guide)

test.each(['Owner', 'CallContext', 'InitializeContext', 'ToolContext', 'PluginClient', 'ToolResult'])('every member of %s', (name) => {
  const members = membersOf(name)
  expect(members.length).toBeGreaterThan(1)
  expect(members.filter((member) => !isNamed(member))).toEqual([])
})

test('a member that is not in the guide is found', () => {
  expect(isNamed('neverHeardOf')).toBe(false)
})

test('the guide says that the client has no credentials, and where it is turned away', () => {
  const [, about = ''] = /(Both may get a `client`[^]*?)\n\n/.exec(guide) ?? []
  expect(about).toContain('without credentials')
  expect(about).toContain('401')
  for (const where of ['svc serve', 'svc run', 'svc plugin test']) expect(about).toContain(where)
})
