// A receiver of webhooks on this machine, for the demo.
import { listen } from '../../packages/cli/src/listen/webhook-receiver.mjs';
import { Problem } from './terminal.mjs';

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
