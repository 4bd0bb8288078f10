// The clients of a running sandbox's merchant. They are built with the service.
import { buildOnce } from './installation.mjs';

/** `{merchant, exchange}` with the keys in sandbox.json. */
export async function clientsOf({ base_url: baseUrl, merchant, exchange }) {
  await buildOnce();
  const { Disburse, DisburseExchange } = await import('@disburse/sdk');
  return {
    merchant: new Disburse({ baseUrl, apiKey: merchant.api_key, privateKey: merchant.private_key }),
    exchange: new DisburseExchange({ baseUrl, apiKey: exchange.api_key, secret: exchange.secret }),
  };
}
