// A doubly linked list through a member of its elements: no allocation, removal from the middle.
// The list owns nothing.
#pragma once

namespace fairlead {

template <class T>
struct ListLink {
  T* previous = nullptr;
  T* next = nullptr;
};

template <class T, ListLink<T> T::*kLink>
class IntrusiveList {
 public:
  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }
  static T* next(const T* element) { return (element->*kLink).next; }

  void push_back(T* element) {
    (element->*kLink) = ListLink<T>{tail_, nullptr};
    (tail_ == nullptr ? head_ : (tail_->*kLink).next) = element;
    tail_ = element;
  }
  // nullptr: at the end.
  void insert_before(T* place, T* element) {
    if (place == nullptr) return push_back(element);
    T* const previous = (place->*kLink).previous;
    (element->*kLink) = ListLink<T>{previous, place};
    (place->*kLink).previous = element;
    (previous == nullptr ? head_ : (previous->*kLink).next) = element;
  }
  void remove(T* element) {
    const ListLink<T> link = element->*kLink;
    (link.previous == nullptr ? head_ : (link.previous->*kLink).next) = link.next;
    (link.next == nullptr ? tail_ : (link.next->*kLink).previous) = link.previous;
  }
  // Not empty.
  void remove_front() {
    head_ = (head_->*kLink).next;
    (head_ == nullptr ? tail_ : (head_->*kLink).previous) = nullptr;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace fairlead
