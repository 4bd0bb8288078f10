export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly toHead: boolean;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MEMBERS = ['detail', 'errors', 'instance', 'status', 'title', 'type'];

/** Returns the fault of a response to any request (contract.md 3), or null. */
export function faultOf({ status, headers, body, toHead }: Response): string | null {
  if (status >= 500 && status !== 503) return `a ${status}`;
  // A 503 of /health/ready after a slow check is a report, not a refusal.
  if (status === 503 && body.startsWith('{"status":"unavailable"')) return null;
  if ([429, 503].includes(status) && !/^[0-9]+$/.test(String(headers['retry-after'])))
    return `${status} without Retry-After`;
  if (!UUID.test(String(headers['request-id']))) return `${status} without Request-Id`;
  if (status < 400 || toHead) return null;
  const type = String(headers['content-type']).split(';')[0]!;
  // A browser gets a page, and a client that accepts text gets the signed bytes.
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

/** Splits a connection's bytes into whole responses; null if they are not HTTP. */
export function responsesIn(bytes: Buffer): readonly Response[] | null {
  const text = bytes.toString('utf8');
  if (text !== '' && !text.startsWith('HTTP/1.1 ')) return null;
  return text.split(/(?=HTTP\/1\.1 [0-9]{3} )/).flatMap((part) => {
    const end = part.indexOf('\r\n\r\n');
    const status = Number(part.slice(9, 12));
    // The final response follows an interim one.
    if (end < 0 || status < 200) return [];
    const lines = part.slice(0, end).split('\r\n').slice(1);
    const names = lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]);
    const headers = Object.fromEntries(names) as Record<string, string>;
    const body = part.slice(end + 4);
    const length = Number(headers['content-length'] ?? 0);
    const received = Buffer.byteLength(body);
    // A HEAD, which a flipped byte may cause, gets a length and no body.
    const toHead = body === '' && length > 0;
    const isCut = received < length && !toHead;
    const isJson = String(headers['content-type']).startsWith('application/problem+json');
    return isCut || (isJson && headers['transfer-encoding'] !== undefined)
      ? []
      : [{ status, headers, body, toHead }];
  });
}
