// The demo of the console: a morning's data, so that its pages have something to display.
import { morning } from './morning.mjs';
import { printLine, step, table } from './terminal.mjs';

export const CONSOLE_TITLE = 'a morning of operations for the console';

export async function consoleDemo(sandbox) {
  const { missing, order, inReview } = await morning(sandbox, { step });
  const links = {
    'failing deliveries': '/deliveries?status=pending',
    'a payout whose transfer is missing': `/payouts/${missing.id}`,
    'pending payouts': '/payouts?status=pending',
    'an order with money to refund': `/orders/${order.id}`,
    'an onboarding in review': `/users/${inReview.id}`,
    'waiting for a second person': '/operations',
  };
  printLine();
  table(Object.entries(links).map(([what, path]) => [what, new URL(path, sandbox.console_url).href]));
}
