import { expect, test } from 'vitest'
import { canonicalPath } from '../../../src/protocol/text/canonical-path.js'

const failing = (code: string) => Object.assign(new Error(code), { code })

async function realPath(path: string): Promise<string> {
  if (path === '/') return '/'
  if (path === '/link' || path === '/link/there') return path.replace('/link', '/target')
  if (path === '/loop') throw failing('ELOOP')
  throw failing(path.startsWith('/file/') ? 'ENOTDIR' : 'ENOENT')
}

test('resolves the links of what exists and leaves the rest as it stands', async () => {
  const asked = ['/', '/link', '/link/there', '/link/new/file', '/none', '/none/at all', '/file/below']
  const answers = await Promise.all(asked.map(async (path) => canonicalPath(realPath, path)))
  expect(answers).toEqual(['/', '/target', '/target/there', '/target/new/file', '/none', '/none/at all', '/file/below'])
})

test('refuses what names no place', async () => {
  await expect(canonicalPath(realPath, '/link\0/there')).rejects.toMatchObject({ code: 'request.invalid' })
})

test('fails as the file system does when something else is wrong', async () => {
  await expect(canonicalPath(realPath, '/loop')).rejects.toThrow('ELOOP')
})

test('takes steps upwards behind what is not there yet', async () => {
  const asked = ['/link/none/../../etc', '/none/../link', '/link/none/./a', '/none/../../..', '/link/none/']
  const answers = await Promise.all(asked.map(async (path) => canonicalPath(realPath, path)))
  expect(answers).toEqual(['/etc', '/link', '/target/none/a', '/', '/target/none'])
})
