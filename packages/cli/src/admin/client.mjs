// The admin API, by a person's key or by the socket of the process on this machine.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { join } from 'node:path';
import { printable } from '../json-text.mjs';
import { nearestDataDir } from '../running-sandbox.mjs';
import { Problem } from '../terminal.mjs';
import { Unreachable, Usage, WrongSetting } from '../usage.mjs';

const TIMEOUT_MS = 90_000;
/** The longest address of a UNIX socket on macOS; Linux allows four bytes more. */
const MAX_PATH_BYTES = 103;

/** A response of 400 and more. */
class Refused extends Problem {
  constructor(status, { detail, title, errors = {} }, requestId = null) {
    const message = detail ?? title ?? 'The response is no problem document';
    const fields = Object.entries(errors).flatMap(([name, all]) => all.map((each) => `${name} ${each}`));
    const others = fields.filter((each) => each !== message).map((each) => `  ${each}`);
    const lines = [
      `${message.replace(/\.$/, '')} (${status}).`,
      ...others,
      ...(requestId ? [`Request id: ${requestId}`] : []),
    ];
    super(lines.map(printable).join('\n'));
    this.facts = { message, status, detail, errors, request_id: requestId };
  }
}

/** The client of `DISBURSE_ADMIN_KEY` at `--url` or `DISBURSE_ADMIN_URL`; without a key that of the shell, by the socket. */
export function adminOf({ url: given, 'data-dir': folder }, env = process.env) {
  const key = env.DISBURSE_ADMIN_KEY?.trim() || null;
  const dataDir = nearestDataDir(folder === undefined ? env : { DATA_DIR: folder });
  const url = given ?? env.DISBURSE_ADMIN_URL ?? null;
  if (key === null) {
    if (given !== undefined) throw new Usage('--url needs the key of a person in DISBURSE_ADMIN_KEY.');
    return new Admin({ socketPath: socketIn(dataDir) }, {});
  }
  const base = url ?? sandboxIn(dataDir);
  if (base === null)
    throw new Usage('DISBURSE_ADMIN_KEY needs --url or DISBURSE_ADMIN_URL, the address of the admin API.');
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new WrongSetting(
      `The address of the admin API must begin with http:// or https://; it is ${base}.`,
    );
  return new Admin({ base: base.replace(/\/$/, '') }, { authorization: `Bearer ${key}` });
}

function socketIn(dataDir) {
  const path = join(dataDir, 'admin.sock');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new WrongSetting(
      `${path} is longer than a UNIX socket allows (${MAX_PATH_BYTES} bytes): use a shorter DATA_DIR.`,
    );
  if (!existsSync(path)) throw noProcess(dataDir);
  // Another user who can write to the folder could pretend to be the process.
  const user = process.getuid?.() ?? 0;
  if (user !== 0 && statSync(path).uid !== user) throw othersSocket(path);
  return path;
}

function othersSocket(path) {
  return new Unreachable(`Only the user of the process may open ${path}: become that user.`);
}

function noProcess(dataDir) {
  return new Unreachable(
    `No process with the role admin runs in ${dataDir}: start one (npm start in the sandbox), name its DATA_DIR with --data-dir, or set DISBURSE_ADMIN_URL and DISBURSE_ADMIN_KEY.`,
  );
}

function sandboxIn(dataDir) {
  const file = join(dataDir, 'sandbox.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).admin.base_url : null;
}

class Admin {
  constructor(place, headers) {
    this.place = place;
    this.headers = headers;
  }

  /** `{etag, body}`. Rejects with a Problem for a refusal, and where there is no response. */
  async send(method, path, { body, headers = {} } = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const received = await this.exchange(method, path, text, {
      ...this.headers,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    });
    const { status, headers: head } = received;
    if (status < 400) return { etag: head.etag, body: JSON.parse(received.text) };
    const isJson = head['content-type']?.includes('json') === true;
    throw new Refused(status, isJson ? JSON.parse(received.text) : {}, head['request-id']);
  }

  exchange(method, path, text, headers) {
    const { base = 'http://localhost', socketPath } = this.place;
    const send = base.startsWith('https:') ? overHttps : overHttp;
    return new Promise((resolve, reject) => {
      const fail = (error) => reject(this.unreachable(error));
      const sent = send(new URL(base + path), { socketPath, method, headers }, async (response) => {
        const chunks = await response.toArray().catch(fail);
        resolve({
          status: response.statusCode,
          headers: response.headers,
          text: String(Buffer.concat(chunks ?? [])),
        });
      });
      sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} s`)));
      sent.on('error', fail).end(text);
    });
  }

  unreachable({ code, message }) {
    const { base, socketPath } = this.place;
    if (base !== undefined) return new Unreachable(`${base} does not respond: ${code ?? message}.`);
    if (code === 'EACCES') return othersSocket(socketPath);
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return noProcess(join(socketPath, '..'));
    return new Unreachable(`${socketPath} does not respond: ${code ?? message}.`);
  }
}
