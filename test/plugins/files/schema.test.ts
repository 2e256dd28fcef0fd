import { expect, it } from 'vitest'
import * as z from 'zod'
import { createWorkspace } from './fixture.js'

it.each([
  ['read', ['filePath', 'offset', 'limit'], ['filePath']],
  ['write', ['filePath', 'content'], ['filePath', 'content']],
  ['edit', ['filePath', 'oldString', 'newString', 'replaceAll'], ['filePath', 'oldString', 'newString']],
  ['grep', ['pattern', 'path', 'include', 'exclude', 'includeHidden', 'limit', 'context', 'caseSensitive', 'mode', 'timeout'], ['pattern']],
  ['glob', ['pattern', 'path', 'includeHidden', 'limit', 'offset', 'timeout'], ['pattern']],
])('%s has a closed schema with a description for every parameter', (id, names, required) => {
  const schema = z.toJSONSchema(createWorkspace().tool(id).input, { io: 'input' })
  expect(Object.keys(schema.properties ?? {})).toEqual(names)
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false, required })
  for (const property of Object.values(schema.properties ?? {})) expect(property).toHaveProperty('description')
})
