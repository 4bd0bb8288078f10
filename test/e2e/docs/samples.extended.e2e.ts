import { createHmac } from 'node:crypto';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import {
  blockOf,
  isOfMerchants,
  messageOf,
  operationsOf,
  pageOf,
  readDocument,
  sectionOf,
  type Operation,
} from '../../support/docs/reference.js';
import { bash } from '../../support/programs/guide.js';
import { pythonOf } from '../../support/programs/python.js';
import { specFolder } from '../../support/run-folder.js';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const KEYS = {
  API_KEY: '90c24bb3-327c-857c-bd44-e5155e389be6',
  PRIVATE_KEY: 'the private key',
  EXCHANGE_KEY: '3f921077-47fc-8cc5-9db8-38122c14149b',
  EXCHANGE_SECRET: 'the secret',
  ADMIN_KEY: 'the admin key',
};
const hmac = (key: string, signed: string): string => createHmac('sha256', key).update(signed).digest('hex');

const document = readDocument();
const operations = operationsOf(document);
const merchants = operations.filter(isOfMerchants);
const sampleOf = ({ id }: Operation, language: string): string =>
  blockOf(sectionOf(pageOf(`reference/${id}`), 'Request'), language)!;

/** Finds the operation of a request; among several, the one with the fewest parameters in its path. */
const operationOf = (method: string, path: string): Operation =>
  operations
    .filter((each) => each.method === method)
    .filter((each) => new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0]!;

/** Removes parts that differ between calls or signatures. */
const essence = ({ method, path, query, body }: Sent): object => ({
  method,
  path,
  query: Object.fromEntries(Object.entries(query).filter(([name]) => !/^(api_key|signature)/.test(name))),
  body: body === '' ? null : (JSON.parse(body) as unknown),
});

describe('the samples of the API reference', () => {
  const sent: Sent[] = [];
  let server: Server;
  let env: Record<string, string>;
  let folder: string;

  /** Responds as the operation's page documents. */
  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const { pathname: path, searchParams } = new URL(request.url!, 'http://service');
        const { method = '', headers } = request;
        sent.push({ method, path, query: Object.fromEntries(searchParams), headers, body });
        const page = pageOf(`reference/${operationOf(method, path).id}`);
        const example = messageOf(blockOf(sectionOf(page, 'Response'), 'http')!);
        const status = Number(/ (\d{3}) /.exec(example.head[0]!)![1]);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(example.body === null ? '' : JSON.stringify(example.body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    env = { ...KEYS, BASE_URL: url, ADMIN_URL: url };
    folder = specFolder('samples');
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const each of merchants) {
      writeFileSync(join(folder, `${each.id}.ts`), sampleOf(each, 'ts'));
      writeFileSync(join(folder, `${each.id}.py`), sampleOf(each, 'python'));
    }
  });
  afterAll(() => void server.close());
  beforeEach(() => void sent.splice(0));

  const run = (program: string, args: readonly string[], more: Record<string, string> = {}) =>
    promisify(execFile)(program, [...args], { cwd: folder, env: { ...process.env, ...env, ...more } });

  /** Returns the requests of the samples in curl, which are verified in full. */
  async function sentByCurl(samples: readonly Operation[]): Promise<Sent[]> {
    sent.splice(0);
    const exports = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
    const commands = samples.map((each) => `(\n${sampleOf(each, 'bash')}\n) >/dev/null`);
    const quiet = 'curl() { command curl -sS "$@"; }';
    const { errors, code } = await bash([...exports, quiet, ...commands].join('\n'), folder);
    expect([errors, code]).toEqual(['', 0]);
    return sent.splice(0);
  }

  it('call their operation with a signature in curl', async () => {
    const requests = await sentByCurl(operations);
    expect(requests.map(({ method, path }) => operationOf(method, path).id)).toEqual(
      operations.map(({ id }) => id),
    );
    for (const { method, path, query, headers, body } of requests) {
      if (method !== 'GET')
        expect(headers['idempotency-key']).toMatch(/^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/);
      if (body !== '') expect(headers['content-type']).toBe('application/json');
      if (path.startsWith('/merchants/')) {
        const signed = [headers['svc-timestamp'], method, path, body].join('\n');
        expect(headers['svc-signature']).toBe(hmac(KEYS.PRIVATE_KEY, signed));
        expect(headers['svc-api-key']).toBe(KEYS.API_KEY);
      } else if (path === '/v1/merchant/orders') {
        expect(headers['x-signature']).toBe(hmac(KEYS.EXCHANGE_SECRET, 'withdraw_address='));
      } else if (path.startsWith('/v1/')) {
        expect(query['api_key']).toBe(KEYS.EXCHANGE_KEY);
        const address = query['withdraw_address'] ?? '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
        const signature =
          path === '/v1/tokens' ? undefined : hmac(KEYS.EXCHANGE_SECRET, `withdraw_address=${address}`);
        expect([path, query['signature']]).toEqual([path, signature]);
      } else if (path.startsWith('/admin/'))
        expect(headers['authorization']).toBe(`Bearer ${KEYS.ADMIN_KEY}`);
    }
  });

  it('compile in TypeScript and send the same requests as in curl', async () => {
    const files = merchants.map(({ id }) => join(folder, `${id}.ts`));
    const options: ts.CompilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      typeRoots: [resolve('node_modules/@types')],
    };
    const faults = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
    expect(ts.formatDiagnostics(faults, formatHost)).toBe('');

    const imports = merchants.map(({ id }) => `await import('./${id}.ts');`).join('\n');
    writeFileSync(join(folder, 'all.ts'), imports);
    await run(process.execPath, ['--import', 'tsx', 'all.ts']);
    expect(sent.splice(0).map(essence)).toEqual((await sentByCurl(merchants)).map(essence));
  });

  const python = pythonOf();
  (python === null ? it.skip : it)('send the same requests in Python as in curl', async () => {
    mkdirSync(join(folder, 'python'), { recursive: true });
    const calls = merchants.map(({ id }) => `runpy.run_path("${id}.py")`).join('\n');
    writeFileSync(join(folder, 'all.py'), `import runpy\n${calls}\n`);
    await run(python!.path, ['all.py'], python!.env);
    expect(sent.splice(0).map(essence)).toEqual((await sentByCurl(merchants)).map(essence));
  });

  it('compile for every webhook, in TypeScript and Python', async () => {
    const samples = Object.keys(document.webhooks).map((type) => {
      const verify = sectionOf(pageOf(`reference/webhooks/${type.replace('.', '-')}`), 'Verify');
      return { type, code: blockOf(verify, 'ts')!, python: blockOf(verify, 'python')! };
    });
    const files = samples.map(({ type, code }) => {
      const file = join(folder, `${type}.ts`);
      writeFileSync(file, code);
      return file;
    });
    const options = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
    };
    const node = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 };
    const faults = ts.getPreEmitDiagnostics(ts.createProgram(files, { ...options, ...node }));
    expect(ts.formatDiagnostics(faults, formatHost)).toBe('');
    if (python === null) return;
    for (const { type, python: code } of samples) {
      writeFileSync(join(folder, `${type}.py`), code);
      await run(python.path, ['-m', 'py_compile', `${type}.py`], python.env);
    }
  });
});

const formatHost: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => '',
  getNewLine: () => '\n',
};
