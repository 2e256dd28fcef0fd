import { describe, expect, test } from 'vitest'
import { readArguments } from '../../src/cli/arguments.js'

const read = (line: string) => readArguments(line === '' ? [] : line.split(' '))

describe('the command line', () => {
  test('serves on loopback port 4096 unless told otherwise', () => {
    expect(read('serve')).toEqual({ name: 'serve', options: { port: 4096, hostname: '127.0.0.1', origins: [], hosts: [] } })
  })

  test('takes every option of serve, lists repeated', () => {
    const line = 'serve --port 0 --hostname [::1] --cors https://a.example --cors http://b.example:8080/ --allow-host Box.local'
    expect(read(line)).toEqual({
      name: 'serve',
      options: { port: 0, hostname: '::1', origins: ['https://a.example', 'http://b.example:8080'], hosts: ['box.local'] },
    })
  })

  test('a word behind the plural is what is shown', () => {
    expect(read('agents build')).toEqual(read('agent show build'))
    expect(read('agents --json')).toEqual(read('agent list --json'))
    expect(read('agents list')).toEqual(read('agent list'))
  })

  test('lets the inspector show payloads only when it is told to', () => {
    expect(read('serve --inspect-payloads')).toMatchObject({ options: { inspectPayloads: true } })
  })

  test('inspects a server or a trace, not both', () => {
    expect(read('inspect')).toEqual({ name: 'inspect', options: { server: undefined, trace: undefined, open: false, json: false } })
    expect(read('inspect --open --server http://127.0.0.1:4100/')).toEqual({
      name: 'inspect',
      options: { server: 'http://127.0.0.1:4100', trace: undefined, open: true, json: false },
    })
    expect(read('inspect --trace saved.json')).toMatchObject({ options: { trace: 'saved.json' } })
    expect(read('inspect --trace a --server http://127.0.0.1:1')).toMatchObject({ name: 'usage', problem: '--trace needs no --server' })
  })

  test('runs a prompt of several words here, asking the person', () => {
    expect(read('run say hello')).toEqual({
      name: 'run',
      options: {
        prompt: 'say hello',
        server: undefined,
        directory: undefined,
        session: undefined,
        continues: false,
        model: undefined,
        agent: undefined,
        variant: undefined,
        output: 'text',
        lastMessage: undefined,
        schema: undefined,
        files: [],
        images: [],
        isQuiet: false,
        isVerbose: false,
        isThinking: false,
        config: [],
        ephemeral: false,
        allow: 'ask',
        unattended: false,
      },
    })
  })

  test('takes every option of run; the model id may contain slashes', () => {
    const line =
      'run --server http://127.0.0.1:4100/ --dir sub --session ses_1 --model local/org/big --agent plan --variant high --output events --output-last-message a.txt --output-schema s.json --file a --file b --image c.png -q --thinking --allow once --unattended go'
    expect(read(line)).toEqual({
      name: 'run',
      options: {
        prompt: 'go',
        server: 'http://127.0.0.1:4100',
        directory: 'sub',
        session: 'ses_1',
        continues: false,
        model: 'local/org/big',
        agent: 'plan',
        variant: 'high',
        output: 'events',
        lastMessage: 'a.txt',
        schema: 's.json',
        files: ['a', 'b'],
        images: ['c.png'],
        isQuiet: true,
        isVerbose: false,
        isThinking: true,
        config: [],
        ephemeral: false,
        allow: 'once',
        unattended: true,
      },
    })
  })

  test.each(['run --continue hi', 'run -c hi'])('goes on in the latest session for "%s"', (line) => {
    expect(read(line)).toMatchObject({ name: 'run', options: { prompt: 'hi', session: undefined, continues: true } })
  })

  test.each(['run', 'run -'])('reads the prompt from standard input for "%s"', (line) => {
    expect(read(line)).toMatchObject({ name: 'run', options: { prompt: undefined } })
  })

  test('keeps a prompt after -- that looks like a flag', () => {
    expect(read('run -- --help me'.replace('--help', '--port'))).toMatchObject({ name: 'run', options: { prompt: '--port me' } })
  })

  test.each(['localhost:4096', 'box.local:80', '[::1]:4096', 'https://a.example'])('takes %s for the address of a server', (address) => {
    const url = address.includes('//') ? address : new URL(`http://${address}`).origin
    expect(read(`run --server ${address} hi`)).toMatchObject({ options: { server: url } })
  })

  test('understands doctor and openapi', () => {
    expect(read('doctor --dir a --json')).toEqual({
      name: 'doctor',
      options: { directory: 'a', server: undefined, json: true, online: false },
    })
    expect(read('openapi')).toEqual({ name: 'openapi' })
  })

  test.each([
    ['--version', { name: 'version' }],
    ['-v', { name: 'version' }],
    ['--help', { name: 'help', topic: undefined }],
    ['help run', { name: 'help', topic: 'run' }],
    ['serve --help', { name: 'help', topic: 'serve' }],
    ['help session list', { name: 'help', topic: 'session list' }],
    ['session list -h', { name: 'help', topic: 'session list' }],
    ['session --help', { name: 'help', topic: 'session' }],
    ['completion zsh', { name: 'completion', shell: 'zsh' }],
    ['man', { name: 'man' }],
  ])('answers %s', (line, command) => {
    expect(read(line)).toEqual(command)
  })

  test('opens a conversation where nothing is asked for, and reads its options', () => {
    const options = { server: undefined, directory: undefined, session: undefined, continues: false, model: undefined, agent: undefined }
    expect(read('')).toEqual({ name: 'screen', options: { ...options, isVerbose: false, isThinking: false, isPlain: false } })
    expect(read('-c --model svc/offline --thinking --plain')).toMatchObject({
      name: 'screen',
      options: { continues: true, model: 'svc/offline', isThinking: true, isPlain: true },
    })
  })

  test.each([
    ['-c --session ses_1', '--continue needs no --session'],
    ['--model', '--model needs a value'],
    ['start', 'there is no command "start"'],
    ['serve --prot 1', '--prot'],
    ['serve now', 'now'],
    ['openapi --pretty', '--pretty'],
    ['serve --port 65536', '--port must be a number from 0 to 65535, not "65536"'],
    ['serve --port 0x10', '--port must be a number'],
    ['serve --hostname a/b', '"a/b" is not a host name or address'],
    ['serve --cors *', '--cors must be an origin'],
    ['serve --cors https://a.example/path', '--cors must be an origin'],
    ['run --server ftp://localhost:4096 hi', '--server must be a URL'],
    ['run --server /tmp hi', '--server must be a URL'],
    ['rnu hi', 'there is no command "rnu"; did you mean run?'],
    ['run --modle svc/offline hi', 'svc run has no option --modle; did you mean --model?'],
    ['run --model --json hi', '--model needs a value: --model <id>'],
    ['run --json=yes hi', '--json takes no value'],
    ['run --unattended deny hi', '--unattended takes no value; write -- before "deny" where it is a word of its own'],
    ['help rnu', 'did you mean run?'],
    ['completion tcsh', 'bash, zsh and fish, not "tcsh"'],
    ['run --model /offline hi', '--model must be provider/model'],
    ['run --json --output events hi', '--json is short for --output json'],
    ['run --variant high hi', '--variant needs --model'],
    ['run --continue --session ses_1 hi', '--continue needs no --session'],
    ['run --quiet --verbose hi', '--quiet needs no --verbose'],
    ['run --allow yes hi', '--allow must be ask, once, always or reject'],
  ])('refuses "%s" and says why', (line, problem) => {
    expect(read(line)).toMatchObject({ name: 'usage', problem: expect.stringContaining(problem) as string })
  })
})
