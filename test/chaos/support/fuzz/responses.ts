/** A whole response, whichever client got it. */
export interface Response {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly toHead: boolean;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MEMBERS = ['detail', 'errors', 'instance', 'status', 'title', 'type'];

/** What is wrong with a response to any request (contract.md 3); null when nothing is. */
export function faultOf({ status, headers, body, toHead }: Response): string | null {
  if (status >= 500 && status !== 503) return `a ${status}`;
  // The report of /health/ready, when a check took too long: no refusal.
  if (status === 503 && body.startsWith('{"status":"unavailable"')) return null;
  if ([429, 503].includes(status) && !/^[0-9]+$/.test(String(headers['retry-after'])))
    return `${status} without Retry-After`;
  if (!UUID.test(String(headers['request-id']))) return `${status} without Request-Id`;
  if (status < 400 || toHead) return null;
  const type = String(headers['content-type']).split(';')[0]!;
  // A page for a browser, and the signed bytes for a client that accepts text.
  if (type === 'text/html' || (type === 'text/plain' && status === 401)) return null;
  if (type !== 'application/problem+json') return `${status} as ${type}`;
  return problemFault(status, body);
}

function problemFault(status: number, body: string): string | null {
  let problem: Readonly<Record<string, unknown>>;
  try {
    problem = JSON.parse(body) as Readonly<Record<string, unknown>>;
  } catch {
    return `${status} whose body is no JSON`;
  }
  const missing = MEMBERS.filter((name) => !Object.hasOwn(problem, name));
  if (missing.length > 0) return `${status} without ${missing.join(', ')}`;
  const { type, title, detail, instance, errors } = problem;
  if (type !== 'about:blank' || problem['status'] !== status || instance !== null)
    return `${status} with a wrong member`;
  if (typeof title !== 'string' || typeof detail !== 'string' || detail === '')
    return `${status} that says nothing`;
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors))
    return `${status} whose errors are no object`;
  const lists = Object.values(errors) as unknown[];
  const fine = lists.every((list) => Array.isArray(list) && list.every((each) => typeof each === 'string'));
  return fine ? null : `${status} whose errors are no lists of messages`;
}

/** The responses on a connection, one after the other, and how many bytes belong to none. */
export function responsesIn(bytes: Buffer): { readonly responses: Response[]; readonly rest: number } {
  const responses: Response[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const [first = '', ...lines] = bytes.subarray(at, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(first)?.[1] ?? NaN);
    if (Number.isNaN(status)) break;
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const found = bodyAt(bytes, end + 4, headers);
    if (found === null) break;
    // Of an interim response the final one follows.
    if (status >= 200) responses.push({ status, headers, ...found });
    at = found.next;
  }
  return { responses, rest: bytes.length - at };
}

/** The body that begins there; null when not all of it is there. */
function bodyAt(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
): { readonly body: string; readonly toHead: boolean; readonly next: number } | null {
  const length = Number(headers['content-length'] ?? 0);
  const chunked = headers['transfer-encoding'] === 'chunked';
  // To a HEAD, which a flipped byte may make, there is a length and no body.
  const none = bytes.length === start || bytes.subarray(start, start + 9).toString('latin1') === 'HTTP/1.1 ';
  if (none) return { body: '', toHead: chunked || length > 0, next: start };
  if (!chunked) {
    const next = start + length;
    return next > bytes.length ? null : { body: bytes.toString('utf8', start, next), toHead: false, next };
  }
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const line = bytes.indexOf('\r\n', at);
    const size = line < 0 ? NaN : parseInt(bytes.toString('latin1', at, line), 16);
    const next = line + 2 + size + 2;
    if (!(next <= bytes.length)) return null;
    if (size === 0) return { body: Buffer.concat(chunks).toString('utf8'), toHead: false, next };
    chunks.push(bytes.subarray(line + 2, next - 2));
    at = next;
  }
}
