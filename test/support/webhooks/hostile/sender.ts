import { HttpReceivers, ReceiverHosts } from '../../../../src/contexts/webhooks/adapters/http-receivers.js';
import type { Order, Report } from './sending-process.js';

/** A process that does nothing but send, so that its memory is that of sending. Orders and reports go over IPC. */
const SAMPLE_MS = 20;
const HEADERS = { 'content-type': 'application/json', 'webhook-signature': 'v1,secret-signature' };
const BODY = JSON.stringify({
  type: 'payout.received',
  data: { note: 'secret-body', filler: 'x'.repeat(500) },
});

const receivers = new HttpReceivers(
  { webhookTimeoutMs: Number(process.argv[2]) },
  new ReceiverHosts({ mode: 'sandbox', webhookAllowCidrs: null }),
);
let peak = 0;
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), SAMPLE_MS);

process.on('message', (order: Order) => void carryOut(order));
process.on('disconnect', () => process.exit());

async function carryOut({ id, url }: Order): Promise<void> {
  if (url === null) {
    globalThis.gc!();
    const rss = process.memoryUsage.rss();
    const sockets = process.getActiveResourcesInfo().filter((each) => /^(TCP|TLS)/.test(each)).length;
    say({ id, memory: { rss, peak: Math.max(peak, rss), sockets } });
    peak = 0;
    return;
  }
  const began = performance.now();
  const response = await receivers.post(url, HEADERS, BODY);
  const tookMs = performance.now() - began;
  say({
    id,
    sent: {
      response: response.response,
      error: response.error,
      excerptBytes: response.excerpt?.length ?? 0,
      tookMs,
    },
  });
}

function say(report: Report): void {
  process.send!(report);
}
