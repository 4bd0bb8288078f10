/** The values for each outcome in the sandbox (contract.md 19), as Markdown for the OpenAPI tag Sandbox. */
export const SANDBOX_VALUES = `Short cuts that exist in the sandbox alone, and values that lead to each outcome:

| Outcome | How |
|---|---|
| \`user.onboarding_completed\` | \`POST sandbox/users/{id}/complete_onboarding\`, or the widget with any name; the code is displayed there |
| \`user.kyc_failed\` | the last name \`Rejected\` in the widget |
| identity under review | the last name \`Review\`: until an operator decides, or \`SANDBOX_REVIEW_SECONDS\` |
| a card that is refused once | the last name \`Cardless\` |
| \`payout.received\` | \`POST sandbox/transfers\` of the payout's \`amount\` to the user's wallet, reported with its \`transaction_hash\` |
| \`payout.failed\`, not found | any hash that is no transaction, such as \`0x\` and 64 zeros, and \`POST sandbox/payouts/{id}/expire\` |
| \`payout.failed\`, wrong amount or recipient | a transfer of another amount, or to another address, until the end of \`PAYOUT_VERIFICATION_WINDOW_SECONDS\` |
| order \`completed\` | \`POST sandbox/transfers\` of \`amount_from\` to the \`deposit_address\`: from 5 to 5,000 USDC, 0.005 SOL each |
| order with refundable money | more than 5,000, or a transfer after the order has ended |
| order \`refunded\` | less than \`amount_from\`, and \`POST sandbox/orders/{id}/refund\` |
| order \`failed\` | \`POST sandbox/orders/{id}/fail\`, or less than \`amount_from\` until the order expires |
| endpoint \`disabled\` | \`POST sandbox/webhook_endpoints/{id}/break\`, or a receiver that responds with 410 |`;
