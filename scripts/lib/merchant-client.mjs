// A merchant's side of the API: signed requests (contract.md 2.2), and a receiver of webhooks.
import { createHmac } from 'node:crypto';
import { Problem } from './terminal.mjs';
import { listen } from '../../packages/cli/src/listen/webhook-receiver.mjs';

export class MerchantClient {
  constructor(baseUrl, { api_key, private_key }) {
    this.baseUrl = baseUrl;
    this.apiKey = api_key;
    this.privateKey = private_key;
  }

  /** Returns `{status, headers, body}`. `path` begins after `/merchants/v1`. */
  async request(method, path, body, headers = {}) {
    const url = new URL(`/merchants/v1${path}`, this.baseUrl);
    const text = body === undefined ? '' : JSON.stringify(body);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signed = [timestamp, method, url.pathname, text].join('\n');
    const responding = fetch(url, {
      method,
      headers: {
        'svc-api-key': this.apiKey,
        'svc-timestamp': timestamp,
        'svc-signature': createHmac('sha256', this.privateKey).update(signed).digest('hex'),
        ...(text === '' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === '' ? {} : { body: text }),
      signal: AbortSignal.timeout(30_000),
    });
    const response = await responding.catch((error) => {
      const reason = error.cause?.code ?? error.cause?.message ?? error.message;
      throw new Problem(`${url.origin} does not respond (${reason}). Is the service running there?`);
    });
    const { status, headers: received } = response;
    return { status, headers: received, body: jsonOf(await response.text(), url, status) };
  }

  /** Like `request`, but any status other than the expected one is a problem that shows the response. */
  async expect(status, method, path, body, headers) {
    const response = await this.request(method, path, body, headers);
    if (response.status === status) return response;
    const detail = response.body?.detail ?? JSON.stringify(response.body);
    throw new Problem(
      `${method} /merchants/v1${path} responded with ${response.status} instead of ${status}: ${detail}`,
    );
  }
}

function jsonOf(text, { origin }, status) {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(`${origin} responded with ${status} and a body that is not JSON. Is it the service?`);
  }
}

/** A webhook receiver on a free loopback port. `verify(body, headers)` throws for a delivery that is not genuine. */
export async function startReceiver(verify) {
  const waiting = new Set();
  const post = ({ body, headers }, response) => {
    const text = body.toString('utf8');
    try {
      const event = verify(text, headers);
      response.writeHead(200).end();
      for (const each of waiting) each.offer({ event, body: text, headers });
    } catch (error) {
      response.writeHead(400).end();
      for (const each of waiting)
        each.fail(new Problem(`A webhook arrived that does not verify: ${error.message}`));
    }
  };
  const { url, close } = await listen(0, { post, get: () => '' });
  return {
    url: `${url}webhooks`,
    /** The first delivery from now on whose event `matches`. */
    next: (matches, timeoutMs, explanation) =>
      new Promise((resolve, reject) => {
        const end = (finish, value) => {
          waiting.delete(waiter);
          clearTimeout(timer);
          finish(value);
        };
        const timer = setTimeout(() => end(reject, new Problem(explanation)), timeoutMs);
        const waiter = {
          offer: (delivery) => matches(delivery.event) && end(resolve, delivery),
          fail: (error) => end(reject, error),
        };
        waiting.add(waiter);
      }),
    close,
  };
}
