// A page at a constant rate, or, without RATE, as fast as 10 virtual users are answered.
import http from 'k6/http';

const open = {
  executor: 'constant-arrival-rate', rate: Math.round(__ENV.RATE), timeUnit: '1s',
  duration: `${__ENV.TIME}s`, preAllocatedVUs: 50,
};
const closed = { executor: 'constant-vus', vus: 10, duration: `${__ENV.TIME}s` };
export const options = { scenarios: { page: __ENV.RATE ? open : closed } };

export default function () {
  http.get(__ENV.URL);
}
