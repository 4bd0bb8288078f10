import { historyRules } from '../../../kernel/history-rules.js';
import {
  approveOperation,
  confirmOperation,
  lapseOperation,
  recordExecuted,
  recordFailed,
  rejectOperation,
  requestOperation,
} from './decisions.js';
import { operation } from './operation.js';

/** What an audit verifies of each operation: that none was executed without its second person, or twice. */
export const operationHistory = historyRules(
  operation,
  {
    'operation.requested.v1': (data, state) =>
      state.phase === 'none' ? requestOperation(data, state) : 'the operation is requested once',
    'operation.approved.v1': (data, state) => approveOperation(data, state),
    'operation.rejected.v1': (data, state) => rejectOperation(data, state),
    'operation.withdrawn.v1': (data, state) => rejectOperation(data, state),
    'operation.confirmed.v1': (data, state) => confirmOperation(data, state),
    'operation.executed.v1': (data, state) => recordExecuted(data, state),
    'operation.failed.v1': (data, state) => recordFailed(data, state),
    'operation.lapsed.v1': (data, state) => lapseOperation(data, state),
  },
  {
    id: 'operation_id',
    // Of what was requested only who it was, and what it needs.
    remember: (state) =>
      state.phase === 'none'
        ? state
        : { ...state, facts: { ...state.facts, parameters: {}, reason: '', ticket: null }, executed: null },
  },
);
