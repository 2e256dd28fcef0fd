import { describe, expect, test } from 'vitest'
import { readSource, sourceText } from '../../../../../src/cli/commands/plugin/install/source-spec.js'

describe('what somebody wants to add', () => {
  test.each([
    ['./hello', { type: 'directory', path: './hello' }],
    ['.', { type: 'directory', path: '.' }],
    ['/srv/hello', { type: 'directory', path: '/srv/hello' }],
    ['~/hello', { type: 'directory', path: '~/hello' }],
    ['plugins/hello', { type: 'directory', path: 'plugins/hello' }],
    ['hello-1.0.0.tgz', { type: 'tarball', path: 'hello-1.0.0.tgz' }],
    ['hello', { type: 'npm', spec: 'hello' }],
    ['npm:hello@^1', { type: 'npm', spec: 'hello@^1' }],
    ['@example/svc-hello@1.2.0', { type: 'npm', spec: '@example/svc-hello@1.2.0' }],
    ['https://example.org/hello.git#v2', { type: 'git', url: 'https://example.org/hello.git', ref: 'v2' }],
    ['git+file:///srv/hello', { type: 'git', url: 'file:///srv/hello' }],
  ])('%s', (typed, source) => {
    expect(readSource(typed, undefined)).toEqual(source)
    expect(readSource(sourceText(readSource(typed, undefined)), undefined)).toEqual(source)
  })

  test('a folder in an archive or a repository is named beside it', () => {
    expect(readSource('a.tgz', 'one')).toEqual({ type: 'tarball', path: 'a.tgz', below: 'one' })
    expect(readSource('https://example.org/a', 'one')).toEqual({ type: 'git', url: 'https://example.org/a', below: 'one' })
  })

  test.each([
    ['git@example.org:a/b.git', undefined, 'begins with https://, http:// or file://'],
    ['ssh://example.org/a', undefined, 'begins with https://, http:// or file://'],
    ['github:a/b', undefined, 'begins with https://, http:// or file://'],
    ['https://example.org/a.tgz', undefined, 'fetch it first'],
    ['hello.zip', undefined, 'taken are .tgz, .tar.gz and .tar'],
    ['Hello World', undefined, 'is neither a folder'],
    ['--registry=x', undefined, 'is neither a folder'],
    ['./hello', 'one', 'name the folder itself'],
    ['hello', 'one', 'the plugin itself'],
  ])('%s is told to be wrong', (typed, below, problem) => {
    expect(() => readSource(typed, below)).toThrow(problem)
  })
})
