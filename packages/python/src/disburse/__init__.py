"""Client of the disburse merchant and exchange API: signed calls, safe retries, pages, webhooks."""

from .client import Disburse, DisburseExchange
from .connections import Request, Response, Send
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    DisburseError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Problem,
    RateLimitError,
    ServerError,
)
from .generated import types
from .generated.types import WebhookEvent
from .pages import Pages
from .references import OrderReference
from .reconcile import Difference, ExpectedPayout, Reconciliation
from .result import Result
from .signing import idempotency_key_of, sign_address, sign_query
from .transport import RetryOptions
from .webhooks import WebhookError, verify_webhook

__all__ = [
    "ApiError",
    "AuthenticationError",
    "ConflictError",
    "ConnectionError",
    "Difference",
    "Disburse",
    "DisburseError",
    "DisburseExchange",
    "ExpectedPayout",
    "ForbiddenError",
    "InvalidRequestError",
    "NotFoundError",
    "OrderReference",
    "Pages",
    "Problem",
    "RateLimitError",
    "Reconciliation",
    "Request",
    "Response",
    "Result",
    "RetryOptions",
    "Send",
    "ServerError",
    "WebhookError",
    "WebhookEvent",
    "idempotency_key_of",
    "sign_address",
    "sign_query",
    "types",
    "verify_webhook",
]
