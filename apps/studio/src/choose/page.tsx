export default function Page(_: { rest: string }) {
  return <p>Soon.</p>
}
